import { troubleCommands } from "../../../contract/views/agent.ts";
import { overviewMerges, overviewView } from "../../../contract/views/run.ts";
import { hasEnded } from "../../../domain/agent/agent.ts";
import { statusOf, waitWords } from "../../../domain/agent/status.ts";
import { promoteCommand } from "../../../domain/merge/words.ts";
import { ok } from "../../../domain/result.ts";
import { lostTargetWords } from "../../../domain/run/run.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { Unpromoted } from "../../../usecases/merge/landing/unpromoted.ts";
import type { AgentStanding, OtherRun } from "../../../usecases/status/overview.ts";
import type { RunStart } from "../../../usecases/status/show.ts";
import { ago, cut, shortTime } from "../../shared/format.ts";
import type { Handler, Paint, Rows } from "../command.ts";
import { hintLine, statusIcon, statusWords, warningLine } from "../marks.ts";
import { mergeLines, startWords } from "./merge-render.ts";
import {
  checklistLines,
  decisionLines,
  lastReviewLines,
  leaderlessLine,
  questionLines,
  unhandedWords,
} from "./operator-render.ts";

export const status: Handler = async ({ app, flags, io }) => {
  const mailbox = typeof flags.agent === "string" ? flags.agent : "operator";
  const reply = await app.call("status.show", { all: flags.all === true, mailbox });
  if (!reply.ok) return reply;
  const { run, otherRuns, agents, unreadMailCount, unreadMailScope, decisions, questions, unhanded } = reply.value;
  const { missingTargets, endedLeader, unpromoted, starts } = reply.value;
  const merges = overviewMerges(reply.value);
  const engine = app.engine.status();
  const head =
    run === null
      ? "No run is active."
      : `Run ${io.paint.accent(run.id)}${run.objective === null ? "" : `: ${visibleLine(run.objective)}`}`;
  const lines = [
    head,
    ...(endedLeader === null ? [] : [leaderlessLine(io.paint, endedLeader)]),
    ...checklistLines(io.paint, reply.value.criteria),
    ...lastReviewLines(io.paint, reply.value.lastReview),
    ...missingTargets.map(({ target, runId }) => warningLine(io.paint, lostTargetWords(target, runId))),
    ...otherRuns.map((other) => otherRunLine(io.paint, other)),
    ...(reply.value.fullDisk === null ? [] : [warningLine(io.paint, visibleLine(reply.value.fullDisk))]),
    `Engine: ${engine === undefined ? "not running" : "running"}`,
    `Mail: ${unreadMailCount} unread (to ${unreadMailScope})`,
    ...mergeLines(io.paint, merges),
    ...unpromoted.map((landed) => landedLine(io.paint, landed, run?.id ?? null)),
    ...starts.map((start) => warningLine(io.paint, `${startersOf(start, run?.id, otherRuns)} at ${startWords(start)}`)),
    ...unhanded.map((one) => warningLine(io.paint, unhandedWords(one))),
    ...decisionLines(io.paint, decisions),
    ...questionLines(io.paint, questions),
    ...(agents.length === 0 ? ["No agents."] : agentBlock(agents, io.paint, Date.now())),
  ];
  const view = overviewView(reply.value, engine);
  return ok({
    json: view,
    text: lines.join("\n"),
    wraps: true,
    rows: rowsOf(agents, view.agents),
  });
};

/** A line about another active run: its questions are in the same inbox. */
function otherRunLine(paint: Paint, { run, liveAgents, waiting }: OtherRun): string {
  const about = run.objective === null ? "" : `: ${visibleLine(run.objective)}`;
  const agents = liveAgents === 1 ? "1 agent" : `${liveAgents} agents`;
  const needs = waiting === 0 ? "" : `, ${waiting} ${waiting === 1 ? "thing waits" : "things wait"} for you (ov inbox)`;
  const line = `Also active: ${paint.accent(run.id)}${about} (${agents}${needs}) ${paint.dim(`— ov run show ${run.id}`)}`;
  return waiting === 0 ? line : warningLine(paint, line);
}

/** Who starts there. With one active run there is no question whose agents are meant. */
function startersOf({ runs }: RunStart, current: string | undefined, others: readonly OtherRun[]): string {
  if (runs.length === 0) return "The next run starts";
  return others.length === 0 && runs.every((run) => run === current)
    ? "New agents start"
    : `New agents of ${runs.join(", ")} start`;
}

/** Without this line a team's work looks finished although its target has nothing of it. */
function landedLine(paint: Paint, landed: Unpromoted, current: string | null): string {
  const { runId, landings, takenOut, unverified } = landed;
  const target = visibleLine(landed.target);
  const named = runId === current && runId !== null ? { runId: null, target: null } : landed;
  const doubt = unverified.length === 0 ? "" : `, NOT VERIFIED (${visibleLine(unverified.join("; "))})`;
  const facts = [
    ...(landings === 0
      ? []
      : [`${landings === 1 ? "1 branch waits" : `${landings} branches wait`} to be taken over into ${target}`]),
    ...(takenOut === 0
      ? []
      : [
          `${takenOut === 1 ? "1 branch was" : `${takenOut} branches were`} taken out again, and ${target} still has ${takenOut === 1 ? "it" : "them"}`,
        ]),
  ];
  return `Landed: ${facts.join("; ")}${doubt} ${paint.dim(`— ${promoteCommand(named)}`)}`;
}

/** An ended agent waits for no answer, but its work may still wait for approval or landing. */
function waitLines(agent: AgentStanding["agent"], waits: AgentStanding["waits"]): readonly string[] {
  const open = waits.filter(({ kind }) => !hasEnded(agent) || kind === "approval" || kind === "merge");
  return open.length === 0 ? [] : [`    waits for ${visibleLine(open.map(waitWords).join(", "))}`];
}

/** A call that has just begun is over before a person has read of it. */
const longCallMs = 10_000;

/** Says why an agent is silent: a long tool is no trouble. */
function doingLines({ doing }: AgentStanding, now: number): readonly string[] {
  if (doing === null || now - doing.since < longCallMs) return [];
  const what = doing.summary === null ? doing.tool : `${doing.tool}: ${doing.summary}`;
  return [`    runs ${cut(visibleLine(what), mostDoing)} (started ${ago(doing.since, now)})`];
}

/** Fits into a terminal of 80 columns. */
const mostDoing = 52;

/** What its status is read from. */
const standing = ({ agent, landedNowhere }: AgentStanding) => ({ ...agent, landedNowhere });

/** One line per agent in columns, what it waits for and what is wrong with it below. */
function agentBlock(views: readonly AgentStanding[], paint: Paint, now: number): readonly string[] {
  const width = (of: (view: AgentStanding) => string): number => Math.max(...views.map((view) => of(view).length));
  const [names, roles, states] = [
    width(({ agent }) => agent.name),
    width(({ agent }) => agent.capability),
    width((view) => statusOf(standing(view)).words),
  ];
  return views.flatMap((view) => {
    const { agent, unread, waits, problem, advice, nextTry, needsOperator } = view;
    const again = nextTry === null ? "" : ` (next try ${shortTime(nextTry, now)})`;
    const stands = standing(view);
    const state = statusWords(paint, stands) + " ".repeat(states - statusOf(stands).words.length);
    const facts = [
      ...(agent.taskId === null ? [] : [visibleLine(agent.taskId)]),
      ...(unread === 0 ? [] : [`${unread} unread`]),
      paint.dim(ago(agent.endedAt ?? agent.lastActivityAt, now)),
    ];
    return [
      `${needsOperator && !hasEnded(agent) ? paint.bold(paint.red("!")) : statusIcon(paint, stands)} ${paint.accent(agent.name.padEnd(names))}  ${agent.capability.padEnd(roles)}  ${state}  ${facts.join("  ")}`,
      ...doingLines(view, now),
      ...waitLines(agent, waits),
      ...(problem === null ? [] : [`    ${visibleLine(problem)}${again}`]),
      ...(advice === null ? [] : [`  ${hintLine(paint, visibleLine(advice))}`]),
      ...((needsOperator && hasEnded(agent)) || agent.outcome === "start_failed"
        ? troubleCommands(agent, advice).map((command) => `  ${hintLine(paint, command)}`)
        : []),
    ];
  });
}

const rowsOf = (views: readonly AgentStanding[], objects: readonly object[]): Rows => ({
  columns: ["NAME", "CAPABILITY", "STATUS", "TASK", "UNREAD", "PARENT", "BRANCH"],
  cells: views.map((view) => [
    view.agent.name,
    view.agent.capability,
    statusOf(standing(view)).words,
    view.agent.taskId ?? "-",
    String(view.unread),
    view.agent.parentName,
    view.agent.branch ?? "-",
  ]),
  objects,
});
