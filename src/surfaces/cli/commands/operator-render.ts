import { troubleCommands } from "../../../contract/views/agent.ts";
import { replyCommand } from "../../../contract/views/mail.ts";
import { statusOf } from "../../../domain/agent/status.ts";
import { collisionSentence } from "../../../domain/merge/radar.ts";
import { proofWords } from "../../../domain/run/checklist.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import { quoted, visibleLine } from "../../../domain/text/visible.ts";
import type { LedRun } from "../../../usecases/agents/stop.ts";
import type { OpenDecision, OpenQuestion } from "../../../usecases/operator/decisions.ts";
import type { Foreseen } from "../../../usecases/operator/inbox.ts";
import type { TroubledAgent, UnhandedBranch } from "../../../usecases/operator/troubled-agents.ts";
import type { CriterionDetail } from "../../../usecases/runs/checklist.ts";
import type { RunDetail } from "../../../usecases/runs/read-runs.ts";
import { ago } from "../../shared/format.ts";
import type { Paint } from "../command.ts";
import { hintLine, warningLine } from "../marks.ts";

/** One decision with everything needed to make it. Other people's text stands behind a bar. */
export function decisionBlock(paint: Paint, decision: OpenDecision, now: number): string {
  const { id, from, subject, options, deadline, createdAt } = decision;
  return [
    `${paint.bold(paint.yellow("?"))} ${paint.accent(id)} ${visibleLine(from)} ${paint.dim(`asked ${ago(createdAt, now)}`)}`,
    `  ${visibleLine(subject)}`,
    ...quoted(about(decision)).map((line) => `  ${line}`),
    ...(options.length === 0 ? [] : [`  Options: ${options.map((option) => visibleLine(option)).join(" | ")}`]),
    ...(deadline === null ? [] : [`  Answer before: ${visibleLine(deadline)}`]),
    ...(decision.kind === "merge"
      ? mergeCommands(id).map((command) => hintLine(paint, command))
      : [hintLine(paint, `ov decide ${shellWord(id)} ${example(options)}`)]),
  ].join("\n");
}

/** The text of a decision, without its subject and its options, which stand in lines of their own. */
function about({ subject, context, options }: OpenDecision): string {
  const listed = ["Options:", ...options.map((option) => `- ${option}`)].join("\n");
  const rest = (context.endsWith(listed) ? context.slice(0, -listed.length) : context).trim();
  return rest === subject.trim() ? "" : rest;
}

/** The commands for a merge that waits: look at it, approve it, or send it back. */
const mergeCommands = (id: string): readonly string[] => [
  `what it changes: ov merge diff ${id.replace(/^merge:/, "")}`,
  `let it land: ov decide ${id} approve`,
  `send it back: ov decide ${id} reject --note "<what is wrong>"`,
];

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

/** Work that was not brought into the queue, with the command that does. */
export const unhandedWords = ({ agentName, branch }: UnhandedBranch): string =>
  `${visibleLine(agentName)} handed in ${visibleLine(branch)}, which is not in the merge queue; to land it: ov merge --branch ${shellWord(branch)}`;

/** More of a kind than one reads at once. */
const mostForeseen = 5;

/** What may wait for a person soon, in a line each. */
export function foreseenLines(paint: Paint, { budgetsSoon, collisions }: Foreseen, now: number): readonly string[] {
  const line = (sentence: string, since: number, command: string | null): string =>
    warningLine(paint, `${visibleLine(sentence)} ${paint.dim(`(${ago(since, now)})`)}`, command ?? undefined);
  const most = (lines: readonly string[], command: string): readonly string[] =>
    lines.length <= mostForeseen
      ? lines
      : [...lines.slice(0, mostForeseen), hintLine(paint, `and ${lines.length - mostForeseen} more: ${command}`)];
  return [
    ...most(
      budgetsSoon.map(({ sentence, since, command }) => line(sentence, since, command)),
      "ov budget show",
    ),
    ...most(
      collisions.map((one) => line(collisionSentence(one), one.since, "ov merge radar")),
      "ov merge radar",
    ),
  ];
}

/** An active run whose leader has ended: what the operator slings next would join it. */
export function leaderlessLine(paint: Paint, { runId, coordinatorName, capability }: LedRun): string {
  const which = coordinatorName === capability ? "" : ` --name ${coordinatorName}`;
  const next = `let it go on: ov recover ${coordinatorName}; or end it: ov ${capability} stop${which}`;
  return warningLine(paint, `Run ${runId} is active, but ${coordinatorName}, which led it, has ended`, next);
}

/**
 * The first option as it can be typed. It is another author's text, and this line invites to be copied into a shell.
 */
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

/** A line for each criterion: its number, where it stands, its words and what shows it. */
export const checklistLines = (paint: Paint, criteria: readonly CriterionDetail[]): readonly string[] =>
  criteria.map(({ criterion, status, tasks }) => {
    const proof = status === "waived" ? undefined : proofWords(criterion);
    const facts = [
      ...(status === "doubted" ? ["the last review did not pass"] : []),
      ...(proof === undefined ? [] : [proof]),
      ...(status === "waived" ? [`waived by ${criterion.waivedBy}: ${criterion.waiveReason}`] : []),
      ...(tasks.length === 0 ? [] : [tasks.join(", ")]),
    ];
    const mark = marks(paint)[criterion.proofLost !== null && status === "open" ? "lost" : status];
    const rest = facts.length === 0 ? "" : ` ${paint.dim(`(${visibleLine(facts.join("; "))})`)}`;
    return `  ${mark} ${criterion.number}. ${visibleLine(criterion.text)}${rest}`;
  });

const marks = (paint: Paint): Readonly<Record<CriterionDetail["status"] | "lost", string>> => ({
  proved: paint.green("✓"),
  waived: paint.dim("~"),
  open: "·",
  doubted: paint.yellow("?"),
  lost: paint.bold(paint.yellow("!")),
});

/** What the reading of the whole said, beside the checklist that it was read against. */
export function lastReviewLines(paint: Paint, last: RunDetail["lastReview"]): readonly string[] {
  if (last === null) return [];
  const { by, verdict, commit, findings, message } = last;
  const about = commit === null ? "" : ` of ${commit.slice(0, 12)}`;
  const words = `last review${about} by ${visibleLine(by)}: ${verdict}`;
  if (verdict === "pass") return [`  ${words}${remarkWords(findings, message)}`];
  const count = findings === 1 ? "1 finding" : `${findings} findings`;
  return [warningLine(paint, `${words}, ${count}`, message === null ? undefined : `ov mail read ${message}`)];
}

function remarkWords(count: number, message: string | null): string {
  if (count === 0) return "";
  const where = message === null ? "" : ` (ov mail read ${message})`;
  return `, ${count === 1 ? "1 remark" : `${count} remarks`}${where}`;
}
