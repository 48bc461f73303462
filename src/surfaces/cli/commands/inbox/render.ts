import type { Agent } from "../../../../domain/agent/agent.ts";
import { startAgain, statusOf } from "../../../../domain/agent/status.ts";
import { quoted } from "../../../../domain/mail/quoted.ts";
import { shellWord } from "../../../../domain/text/shell-word.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { OpenDecision } from "../../../../usecases/operator/decisions.ts";
import type { OpenQuestion } from "../../../../usecases/operator/questions.ts";
import type { TroubledAgent, UnhandedBranch } from "../../../../usecases/operator/troubled-agents.ts";
import type { Paint } from "../../command.ts";
import { ago } from "../../format.ts";
import { hintLine, warningLine } from "../../marks.ts";

export const decisionJson = (decision: OpenDecision) => ({
  ...decision,
  createdAt: new Date(decision.createdAt).toISOString(),
});

/** One decision with everything needed to make it. Other people's text stands behind a bar. */
export function decisionBlock(paint: Paint, decision: OpenDecision, now: number): string {
  const { id, from, subject, context, options, deadline, createdAt } = decision;
  return [
    `${paint.bold(paint.yellow("?"))} ${paint.accent(id)} ${visibleLine(from)} ${paint.dim(`asked ${ago(createdAt, now)}`)}`,
    `  ${visibleLine(subject)}`,
    ...quoted(context).map((line) => `  ${line}`),
    ...(options.length === 0 ? [] : [`  Options: ${options.map((option) => visibleLine(option)).join(" | ")}`]),
    ...(deadline === null ? [] : [`  Answer before: ${visibleLine(deadline)}`]),
    ...(decision.kind === "merge"
      ? mergeCommands(id).map((command) => hintLine(paint, command))
      : [hintLine(paint, `ov decide ${shellWord(id)} ${example(options)}`)]),
  ].join("\n");
}

/** The commands for a merge that waits: look at it, approve it, or send it back. */
const mergeCommands = (id: string): readonly string[] => [
  `what it changes: ov merge diff ${id.replace(/^merge:/, "")}`,
  `let it land: ov decide ${id} approve`,
  `send it back: ov decide ${id} reject --note "<what is wrong>"`,
];

export const questionJson = (question: OpenQuestion) => ({
  ...question,
  createdAt: new Date(question.createdAt).toISOString(),
  command: replyCommand(question),
});

/** One question with the command that answers it. */
export function questionBlock(paint: Paint, question: OpenQuestion, now: number): string {
  const { id, from, subject, body, createdAt } = question;
  return [
    `${paint.bold(paint.yellow("?"))} ${paint.accent(id)} ${visibleLine(from)} ${paint.dim(`waits for your answer, asked ${ago(createdAt, now)}`)}`,
    `  ${visibleLine(subject)}`,
    ...quoted(body).map((line) => `  ${line}`),
    hintLine(paint, replyCommand(question)),
  ].join("\n");
}

const replyCommand = ({ id }: Pick<OpenQuestion, "id">): string => `ov mail reply ${shellWord(id)} --body "<answer>"`;

export const troubledJson = ({ agent, problem, failure, advice }: TroubledAgent) => ({
  agentName: agent.name,
  status: statusOf(agent).words,
  outcome: agent.outcome,
  problem,
  failure,
  advice,
  commands: troubleCommands(agent),
});

/** An agent that failed, with what can be done about it. */
export function troubledBlock(paint: Paint, { agent, problem, advice }: TroubledAgent, now: number): string {
  const task = agent.taskId === null ? "" : ` on ${visibleLine(agent.taskId)}`;
  return [
    `${paint.bold(paint.red("!"))} ${paint.accent(agent.name)} (${agent.capability}${task}) ${statusOf(agent).words} ${paint.dim(ago(agent.endedAt ?? agent.lastActivityAt, now))}`,
    ...(problem === null ? [] : [`  ${visibleLine(problem)}`]),
    ...(advice === null ? [] : [`  ${visibleLine(advice)}`]),
    ...troubleCommands(agent, advice).map((command) => hintLine(paint, command)),
  ].join("\n");
}

/** Work that nobody brought into the queue, with the command that does. */
export const unhandedWords = ({ agentName, branch }: UnhandedBranch): string =>
  `${visibleLine(agentName)} handed in ${visibleLine(branch)}, which nobody handed over: ov merge --branch ${shellWord(branch)}`;

type TroubledFacts = Pick<Agent, "name" | "taskId" | "capability" | "generation" | "outcome">;

/**
 * The commands for an agent in trouble: look, go on, or let go. Worktree and branch stay until the last of them.
 * The command to go on is left out when `advice` names it.
 */
export const troubleCommands = (agent: TroubledFacts, advice: string | null = null): readonly string[] =>
  agent.outcome === "start_failed"
    ? unstartedCommands(agent)
    : [
        `see what it did: ov logs ${agent.name}`,
        ...(advice?.includes("ov recover") === true ? [] : [`let it go on: ov recover ${agent.name}`]),
        `let it go, its work is kept: ov release ${agent.name}`,
      ];

/** An agent that never started has no conversation and no work, so it cannot be released. */
function unstartedCommands(agent: TroubledFacts): readonly string[] {
  const again = startAgain(agent);
  return [`see why: ov logs ${agent.name}`, ...(again === undefined ? [] : [`then ${again}`])];
}

/** The first option as it can be typed. It is somebody else's text, and this line invites to be copied into a shell. */
function example([first]: readonly string[]): string {
  if (first === undefined) return "<answer>";
  return visibleLine(first) === first ? shellWord(first) : "<option>";
}

/** For the answers of other commands: who waits for a person, in a line each. */
export const decisionLines = (paint: Paint, decisions: readonly OpenDecision[]): readonly string[] =>
  decisions.map(({ id, from, subject }) =>
    warningLine(
      paint,
      `${visibleLine(from)} needs a decision: ${visibleLine(subject)}`,
      `ov inbox, then: ov decide ${id} <option>`,
    ),
  );

export const questionLines = (paint: Paint, questions: readonly OpenQuestion[]): readonly string[] =>
  questions.map((question) =>
    warningLine(paint, `${visibleLine(question.from)} asks: ${visibleLine(question.subject)}`, replyCommand(question)),
  );
