import { troubleCommands } from "../../../contract/views/agent.ts";
import { overviewMerges, overviewView } from "../../../contract/views/run.ts";
import { hasEnded } from "../../../domain/agent/agent.ts";
import { fleetTree } from "../../../domain/agent/fleet-tree.ts";
import { statusOf, waitWords } from "../../../domain/agent/status.ts";
import type { Event } from "../../../domain/event/event.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { lostTargetWords } from "../../../domain/run/run.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { AgentStanding, OtherRun } from "../../../usecases/status/overview.ts";
import type { AgentDetails, RunStart, ShownStatus } from "../../../usecases/status/show.ts";
import { exits } from "../../shared/exits.ts";
import { ago, counted, cut, shortTime } from "../../shared/format.ts";
import { landedLine } from "../../shared/landed-line.ts";
import { describeRefusal } from "../../shared/refusals.ts";
import { bellOf } from "../bell.ts";
import type { Handler, Call as HandlerCall, Outcome, Paint, Rows } from "../command.ts";
import { integer, isOn } from "../given.ts";
import { hintLine, statusIcon, statusWords, warningLine } from "../marks.ts";
import { fileSink, jsonText } from "../sink.ts";
import { untilInterrupted } from "../waiting.ts";
import { mergeLines, startWords } from "./merge-render.ts";
import {
  checklistLines,
  decisionLines,
  lastReviewLines,
  leaderlessLine,
  questionLines,
  unhandedWords,
} from "./operator-render.ts";

export const status: Handler = async (call) => {
  const first = await look(call);
  if (!first.ok || !isOn(call.flags.watch)) return first;
  // With --json each look is a document of its own, on a line.
  const text = await onScreen(call, first.value.text);
  return ok({ ...first.value, text, afterPrint: () => untilInterrupted((over) => watch(call, over)) });
};

async function onScreen({ flags, io }: HandlerCall, text: string): Promise<string> {
  const { screenful, screenSize } = await import("../screenful.ts");
  const size = io.json ? undefined : screenSize();
  return size === undefined ? text : screenful(text, size, `ov status${isOn(flags.all) ? " --all" : ""}`);
}

/** Prints the status again whenever something happened, until Ctrl-C: in place on a terminal, below it elsewhere. */
async function watch(call: HandlerCall, over: AbortSignal): Promise<void> {
  const { app, flags, io } = call;
  const out = fileSink(1);
  const intervalMs = integer(flags.interval) ?? defaultIntervalMs;
  const unread = new AbortController();
  const signal = AbortSignal.any([over, unread.signal]);
  const latest = await app.call("event.list", { limit: 1 });
  if (!latest.ok) return io.warn(`stopped watching: ${describeRefusal(latest.refusal).message}`);
  let shown: Promise<void> | undefined;
  const show = async (): Promise<void> => {
    const found = await look(call);
    if (!found.ok) return io.warn(describeRefusal(found.refusal).message);
    const text = io.json
      ? await jsonText({ success: true, command: "status", ...found.value.json })
      : `${out.isTTY() ? "\x1b[H\x1b[2J" : "\n"}${await onScreen(call, found.value.text)}`;
    if (out.write(`${text}\n`) === "reader-gone") unread.abort();
  };
  const request = { after: latest.value.cursor, intervalMs };
  let isAsked = false;
  // Looks that take longer than the interval must not queue up: one more look sees all that happened meanwhile.
  const showAll = async (): Promise<void> => {
    while (isAsked && !signal.aborted) {
      isAsked = false;
      await show();
    }
    shown = undefined;
  };
  const bell = await bellOf(app, out);
  const onItem = (events: readonly Event[]): void => {
    bell(events);
    isAsked = true;
    shown ??= showAll();
  };
  const followed = await app.follow("event.follow", request, { onItem, signal });
  await shown;
  if (!followed.ok) io.warn(`stopped watching: ${describeRefusal(followed.refusal).message}`);
}

const defaultIntervalMs = 3_000;

/** One look, with the attention of the operator first. Of a large fleet the text takes as long as the document. */
async function look({ app, flags, io }: HandlerCall): Promise<Result<Outcome, Refusal>> {
  const mailbox = typeof flags.agent === "string" ? flags.agent : "operator";
  const reply = await app.call("status.show", { all: flags.all === true, mailbox, details: io.verbose });
  if (!reply.ok) return reply;
  const engine = app.engine.status();
  const view = overviewView(reply.value, engine);
  const exit = isOn(flags.check) && view.needsOperator ? { exit: exits.check } : {};
  if (io.json) return ok({ json: view, text: "", ...exit });
  return ok({
    json: view,
    text: statusLines(reply.value, io, engine !== undefined).join("\n"),
    wraps: true,
    rows: rowsOf(reply.value.agents, view.agents),
    // A script asks with the exit code alone.
    ...(isOn(flags.check) ? { quietText: "" } : {}),
    ...exit,
  });
}

function statusLines(shown: ShownStatus, { paint }: HandlerCall["io"], isEngineUp: boolean): string[] {
  const { run, otherRuns, agents, unreadMailCount, unreadMailScope, decisions, questions, unhanded } = shown;
  const { fullDisk, missingTargets, endedLeader, unpromoted, starts } = shown;
  const head =
    run === null
      ? "No run is active."
      : `Run ${paint.accent(run.id)}${run.objective === null ? "" : `: ${visibleLine(run.objective)}`}`;
  return [
    head,
    ...(fullDisk === null ? [] : [warningLine(paint, visibleLine(fullDisk))]),
    ...(endedLeader === null ? [] : [leaderlessLine(paint, endedLeader)]),
    ...decisionLines(paint, decisions),
    ...questionLines(paint, questions),
    ...troubleLines(paint, agents),
    ...unhanded.map((one) => warningLine(paint, unhandedWords(one))),
    ...missingTargets.map(({ target, runId }) => warningLine(paint, lostTargetWords(target, runId))),
    ...starts.map((start) => warningLine(paint, `${startersOf(start, run?.id, otherRuns)} at ${startWords(start)}`)),
    ...mergeLines(paint, overviewMerges(shown)),
    ...otherRuns.map((other) => otherRunLine(paint, other)),
    ...unpromoted.map((landed) => landedLine(paint, landed, run?.id ?? null)),
    ...checklistLines(paint, shown.criteria),
    ...lastReviewLines(paint, shown.lastReview),
    `Engine: ${isEngineUp ? "running" : "not running"}`,
    `Mail: ${unreadMailCount} unread (to ${unreadMailScope})`,
    ...(agents.length === 0 ? ["No agents."] : agentBlock(agents, paint, Date.now(), shown.details)),
  ];
}

/** A fleet that fails as a whole must not push everything else off the screen. */
const mostTroubled = 10;

/** The agents that a person should look at, in a line each. The tree below says more about each of them. */
function troubleLines(paint: Paint, views: readonly AgentStanding[]): readonly string[] {
  const troubled = views.filter(({ agent, needsOperator }) => needsOperator || agent.state === "stalled");
  const lines = troubled.slice(0, mostTroubled).map((view) => {
    const { agent, problem } = view;
    const on = agent.taskId === null ? "" : ` on ${visibleLine(agent.taskId)}`;
    const why = problem === null ? statusOf(agent).words : visibleLine(problem);
    return warningLine(paint, `${agent.name} (${agent.capability}${on}): ${why}`, helpFor(view));
  });
  const more = troubled.length - mostTroubled;
  if (more <= 0) return lines;
  return [...lines, warningLine(paint, `${counted(more, "more agent")} in trouble`, "ov inbox")];
}

/**
 * What comes first: an agent that ended because of a login would only end again if it was recovered before. An agent that
 * never started has nothing to go on with.
 */
function helpFor({ agent, advice, command }: AgentStanding): string {
  if (command !== null) return command;
  if (!hasEnded(agent) || agent.outcome === "start_failed") return `ov logs ${agent.name}`;
  return advice === null ? `ov recover ${agent.name}` : visibleLine(advice);
}

/** A line about another active run: its questions are in the same inbox. */
function otherRunLine(paint: Paint, { run, liveAgents, waiting, endedLeader }: OtherRun): string {
  const about = run.objective === null ? "" : `: ${visibleLine(run.objective)}`;
  const agents = liveAgents === 1 ? "1 agent" : `${liveAgents} agents`;
  const needs = waiting === 0 ? "" : `, ${waiting} ${waiting === 1 ? "thing waits" : "things wait"} for you (ov inbox)`;
  const led = endedLeader === null ? "" : `, ${endedLeader.coordinatorName}, which led it, has ended`;
  const line = `Also active: ${paint.accent(run.id)}${about} (${agents}${led}${needs}) ${paint.dim(`— ov run show ${run.id}`)}`;
  return waiting === 0 && endedLeader === null ? line : warningLine(paint, line);
}

/** The agents that start there. With one active run there is no question whose agents are meant. */
function startersOf({ runs }: RunStart, current: string | undefined, others: readonly OtherRun[]): string {
  if (runs.length === 0) return "The next run starts";
  return others.length === 0 && runs.every((run) => run === current)
    ? "New agents start"
    : `New agents of ${runs.join(", ")} start`;
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

/** The fleet as a tree, one line per agent in columns, with its wait and its trouble below. */
function agentBlock(
  views: readonly AgentStanding[],
  paint: Paint,
  now: number,
  details: ShownStatus["details"],
): readonly string[] {
  const tree = fleetTree(views, ({ agent }) => agent);
  const names = Math.max(...tree.map(({ item, lead }) => lead.length + item.agent.name.length));
  const roles = Math.max(...views.map(({ agent }) => agent.capability.length));
  const states = Math.max(...views.map((view) => statusOf(standing(view)).words.length));
  return tree.flatMap(({ item: view, lead }) => {
    const { agent, unread, waits, problem, advice, nextTry, needsOperator } = view;
    const again = nextTry === null ? "" : ` (next try ${shortTime(nextTry, now)})`;
    const stands = standing(view);
    const state = statusWords(paint, stands) + " ".repeat(states - statusOf(stands).words.length);
    const facts = [
      ...(agent.taskId === null ? [] : [visibleLine(agent.taskId)]),
      ...(unread === 0 ? [] : [`${unread} unread`]),
      paint.dim(ago(agent.endedAt ?? agent.lastActivityAt, now)),
    ];
    const name = `${paint.dim(lead)}${paint.accent(agent.name.padEnd(names - lead.length))}`;
    return [
      `${needsOperator && !hasEnded(agent) ? paint.bold(paint.red("!")) : statusIcon(paint, stands)} ${name}  ${agent.capability.padEnd(roles)}  ${state}  ${facts.join("  ")}`,
      ...doingLines(view, now),
      ...waitLines(agent, waits),
      ...(problem === null ? [] : [`    ${visibleLine(problem)}${again}`]),
      ...(advice === null ? [] : [`  ${hintLine(paint, visibleLine(advice))}`]),
      ...((needsOperator && hasEnded(agent)) || agent.outcome === "start_failed"
        ? troubleCommands(agent, advice).map((command) => `  ${hintLine(paint, command)}`)
        : []),
      ...detailLines(view, details?.get(agent.name), now).map((line) => `  ${hintLine(paint, line)}`),
    ];
  });
}

/** Where an agent works and with what, when it last wrote and was written to, for `--verbose`. */
function detailLines(
  { agent, turns }: AgentStanding,
  details: AgentDetails | undefined,
  now: number,
): readonly string[] {
  if (details === undefined) return [];
  const when = (at: number | null): string => (at === null ? "none" : ago(at, now));
  return [
    `runtime ${agent.runtime}${agent.model === null ? "" : `, model ${visibleLine(agent.model)}`}, ${counted(turns, "turn")}`,
    ...(agent.branch === null ? [] : [`branch ${visibleLine(agent.branch)}`]),
    ...(agent.worktreePath === null ? [] : [`worktree ${visibleLine(agent.worktreePath)}`]),
    `logs ${visibleLine(details.logsDir)}`,
    `last mail sent ${when(details.sentAt)}, received ${when(details.receivedAt)}`,
  ];
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
