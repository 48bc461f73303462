import type { Agent } from "../agent/agent.ts";
import type { Missing } from "../completion/check.ts";
import type { Letter } from "../mail/letter.ts";
import { renderBatch } from "../mail/render.ts";
import { namedIn } from "../text/long-list.ts";
import { quoted } from "../text/visible.ts";
import type { TurnTrigger } from "./turn.ts";

/** The facts about a lost conversation. */
export interface Recall {
  /** Its own last words. */
  readonly summary: string;
  readonly files: readonly string[];
  readonly pending: string;
  /** Mail that it had read and may not have dealt with. */
  readonly letters: readonly Letter[];
}

export interface PromptFacts {
  readonly agent: Pick<Agent, "name" | "capability" | "taskId" | "parentName" | "branch" | "depth">;
  readonly trigger: TurnTrigger;
  /** Why it starts without mail. */
  readonly reason?: string | null;
  readonly attempt: number;
  /** The agent has no conversation yet. */
  readonly first: boolean;
  /** It had one, and lost it. */
  readonly recall?: Recall | undefined;
  /** The instructions as they are now, where the conversation was told others. */
  readonly changed?: string | undefined;
  /** What others did to the worktree since the last turn, a sentence each. */
  readonly changes?: readonly string[];
  readonly letters: readonly Letter[];
  /** What the agent lacks before it could finish, as far as the store knows; only told in a reminder. */
  readonly lacks?: readonly Missing[];
  /** Where the agent finds its instructions, or their text, for a program that cannot be given a file. */
  readonly instructions: { readonly in: string } | { readonly text: string };
}

/** What an agent is told in one turn: who it is when that is new, why it is woken, and its mail. */
export function composePrompt(facts: PromptFacts): string {
  const parts: string[] = [];
  if (facts.first) parts.push(introduction(facts));
  if (facts.recall !== undefined) parts.push(...recalled(facts.recall));
  else if (facts.attempt > 1 || (facts.trigger === "retry" && !facts.first))
    parts.push("Your previous turn did not finish. Look at the state of your worktree, then go on.");
  if (facts.changed !== undefined)
    parts.push(`Your instructions have changed. These replace the ones you were given before:\n\n${facts.changed}`);
  const { changes = [] } = facts;
  if (changes.length > 0)
    parts.push(["Your worktree was changed since your last turn:", ...changes.map((line) => `- ${line}`)].join("\n"));
  if (facts.trigger === "reminder") parts.push(reminder(facts));
  if (facts.trigger === "nudge") parts.push(...goingOn(facts));
  const mail = renderBatch(facts.letters);
  if (mail !== "") parts.push(mail);
  return parts.join("\n\n");
}

/** What the agent waited for is over, and no message says so. Turns of earlier versions have no reason. */
function goingOn({ reason = null, letters }: PromptFacts): readonly string[] {
  if (reason !== null) return [`This turn starts because ${reason}. Go on where you stopped.`];
  return letters.length > 0 ? [] : ["What held you back is over. Go on where you stopped."];
}

/**
 * Names the command to call, the points that are missing for it, and the way to say that one waits. A message that says
 * "done" ends nothing.
 */
function reminder({ agent, lacks = [] }: PromptFacts): string {
  const missing = lacks.flatMap(({ message, fix }) => [`- ${message}`, `  ${fix}`]);
  return [
    "Your last turn ended, but you neither finished nor said what you are waiting for.",
    ...(missing.length === 0 ? [] : ["What is missing before you can finish:", ...missing]),
    'To finish, call the tool finish, or type: ov done --summary "<what you did>". Only that ends your work; it says what is missing when it refuses.',
    `To wait for somebody, ask, then end your turn; the answer starts the next one: ov mail send --to ${agent.parentName} --type question --subject "<what>" --body "<what you wait for>"`,
    "If you do neither, your parent is told that you never finished.",
  ].join("\n");
}

function introduction({ agent, instructions }: PromptFacts): string {
  const task = agent.taskId === null ? "" : `, task ${agent.taskId}`;
  const branch = agent.branch === null ? "" : ` Your branch is ${agent.branch}.`;
  const who = `[OVERSTORY] You are ${agent.name}, a ${agent.capability}${task}. Your parent is ${agent.parentName}.${branch}`;
  if ("in" in instructions)
    return `${who} Your instructions are loaded already (${instructions.in}): open that file only if you do not see them. Begin at once.`;
  return `${who} These are your instructions:\n\n${instructions.text}\n\nBegin at once.`;
}

function recalled({ summary, files, pending, letters }: Recall): string[] {
  const lines = [
    "Your earlier conversation is gone, and this one goes on in its place. Your worktree and branch are as it left them: look at `git status` and `git log` before you go on.",
    ...(summary === "" ? [] : ["What you said last:", ...quoted(summary)]),
    ...(files.length === 0 ? [] : [`Files you had changed: ${namedIn(files)}`]),
    ...(pending === "" ? [] : [`You were waiting for: ${pending}`]),
  ];
  if (letters.length === 0) return [lines.join("\n")];
  return [lines.join("\n"), "Mail that you had read there and may not have dealt with:", renderBatch(letters)];
}
