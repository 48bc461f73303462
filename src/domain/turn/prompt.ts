import type { Agent } from "../agent/agent.ts";
import type { Letter } from "../mail/fold.ts";
import { renderBatch } from "../mail/render.ts";
import type { TurnTrigger } from "./turn.ts";

export interface PromptFacts {
  readonly agent: Pick<Agent, "name" | "capability" | "taskId" | "parentName" | "branch" | "depth">;
  readonly trigger: TurnTrigger;
  readonly attempt: number;
  /** The agent has no conversation yet. */
  readonly first: boolean;
  readonly letters: readonly Letter[];
  readonly instructionFile: string;
}

/** What an agent is told in one turn: who it is when that is new, why it is woken, and its mail. */
export function composePrompt(facts: PromptFacts): string {
  const parts: string[] = [];
  if (facts.first) parts.push(introduction(facts));
  if (facts.attempt > 1)
    parts.push("Your previous turn did not finish. Look at the state of your worktree, then go on.");
  if (facts.trigger === "reminder") parts.push(reminder);
  const mail = renderBatch(facts.letters);
  if (mail !== "") parts.push(mail);
  return parts.join("\n\n");
}

const reminder =
  "Your last turn ended, but you neither finished nor said what you are waiting for. " +
  "Finish your task and send your terminal message, or send a question to your parent.";

function introduction({ agent, instructionFile }: PromptFacts): string {
  const task = agent.taskId === null ? "" : `, task ${agent.taskId}`;
  const branch = agent.branch === null ? "" : ` Your branch is ${agent.branch}.`;
  return (
    `[OVERSTORY] You are ${agent.name}, a ${agent.capability}${task}. Your parent is ${agent.parentName}.${branch} ` +
    `Read ${instructionFile} if it exists, then begin at once.`
  );
}
