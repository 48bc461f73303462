import { runAgentView } from "../../../contract/views/agent.ts";
import { changedRunView, endedRunView, runView } from "../../../contract/views/run.ts";
import { statusOf } from "../../../domain/agent/status.ts";
import { ok } from "../../../domain/result.ts";
import type { Criterion } from "../../../domain/run/checklist.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { RunAgent, RunDetail } from "../../../usecases/runs/read-runs.ts";
import { duration, generationName, iso, shortTime } from "../../shared/format.ts";
import type { Handler, Paint, Rows } from "../command.ts";
import { integer, numbers, text, word } from "../given.ts";
import { hintLine, statusIcon, statusWords, successLine, warningLine } from "../marks.ts";
import { fileSink } from "../sink.ts";
import { table } from "../table.ts";
import { mergeLines } from "./merge-render.ts";
import { checklistLines, lastReviewLines } from "./operator-render.ts";
import { timelineLines } from "./timeline.ts";

const defaultCount = 10;

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("run.list", { last: integer(flags.last) ?? defaultCount });
  if (!found.ok) return found;
  const runs = found.value.runs.map(runView);
  const rows: Rows = {
    columns: ["ID", "STATUS", "STARTED", "DURATION", "AGENTS", "OBJECTIVE"],
    cells: found.value.runs.map(({ run, agentCount, durationMs, status, ...end }) => [
      run.id,
      endedAs({ status, ...end }),
      iso(run.startedAt),
      duration(durationMs),
      String(agentCount),
      run.objective ?? "-",
    ]),
    objects: runs,
  };
  // A person reads a short local time; scripts get the whole one.
  const shown = found.value.runs.map(
    ({ run }, i) => rows.cells[i]?.with(2, shortTime(run.startedAt, Date.now())) ?? [],
  );
  const text = runs.length === 0 ? "No runs yet." : table({ ...rows, cells: shown }, io.paint);
  return ok({ json: { runs }, text, rows });
};

export const current: Handler = async ({ app, io }) => {
  const found = await app.call("run.current", {});
  if (!found.ok) return found;
  const detail = found.value.current;
  if (detail === null) {
    const message = "No run is active.";
    return ok({
      json: { run: null, message },
      text: `${message}\n${hintLine(io.paint, "start one: ov sling <task-id>")}`,
    });
  }
  return ok({
    json: { run: runView(detail), duration: duration(detail.durationMs) },
    text: runLines(io.paint, detail).join("\n"),
    wraps: true,
  });
};

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("run.show", { id: text(args["run-id"]) });
  if (!found.ok) return found;
  const { agents, ...detail } = found.value;
  const timeline = timelineLines(io.paint, { ...detail, agents }, fileSink(1).columns() ?? 80);
  const rows = agents.map((one) => agentLine(io.paint, one, isSucceeded(one, agents)));
  const lines = [...runLines(io.paint, detail), ...rows, ...timeline];
  return ok({
    json: { run: runView(detail), duration: duration(detail.durationMs), agents: agents.map(runAgentView) },
    text: lines.join("\n"),
    wraps: true,
  });
};

/** Changes what a run is for. */
export const change: Handler = async ({ app, args, flags, io }) => {
  const waive = numbers("waive", flags.waive);
  if (!waive.ok) return waive;
  const request = { words: word(args.words), runId: text(flags.run), waive: waive.value };
  const changed = await app.call("run.change", request);
  if (!changed.ok) return changed;
  const { run, told, criteria, earlier } = changed.value;
  const { paint } = io;
  const ended = run.coordinatorName === null ? "the run has no coordinator" : `${run.coordinatorName} has ended`;
  const nobody = `nobody was told: ${ended}; tell its agents yourself: ov mail send`;
  const news = changed.value.changed
    ? [successLine(paint, "Objective changed", run.id), hintLine(paint, told === null ? nobody : `told: ${told}`)]
    : [`The objective of ${paint.accent(run.id)} was changed so before; nobody was told again.`];
  if (changed.value.withdraws) news.push(hintLine(paint, withdrawn(run.id)));
  return ok({
    json: changedRunView(changed.value),
    text: [...news, ...checklistLines(paint, criteria), ...earlier.map((one) => takenBackLine(paint, one))].join("\n"),
    quietText: run.id,
  });
};

const withdrawn = (runId: string): string =>
  `it only takes something back, so it is no criterion; waive a criterion of which nothing is left: ov run criteria waive <n> --run ${runId} --reason "<why>"; if it is something to be met: ov run criteria add --run ${runId} "<what must be true>"`;

/** An earlier change stays a criterion until the operator says otherwise. */
const takenBackLine = (paint: Paint, { number, runId }: Criterion): string =>
  hintLine(
    paint,
    `if this takes criterion ${number} back: ov run criteria waive ${number} --run ${runId} --reason "<why>"`,
  );

/** Lets a run work for another branch, such as when its target was renamed. */
export const retarget: Handler = async ({ app, args, flags, io }) => {
  const target = word(args.branch);
  const head = await app.call("branch.find", { branch: target });
  if (!head.ok) return head;
  const shown = await app.call("run.show", { id: text(flags.run) });
  if (!shown.ok) return shown;
  const { id, targetBranch: old } = shown.value.run;
  const wasRenamed = old !== null && !(await app.call("branch.find", { branch: old })).ok;
  const changed = await app.call("run.retarget", { runId: id, target, wasRenamed });
  if (!changed.ok) return changed;
  const { run, before, waiting } = changed.value;
  const { id: runId, landingBranch } = run;
  const was = before === null ? "" : ` (was ${visibleLine(before)})`;
  const where =
    landingBranch === null || waiting === 0
      ? ""
      : `what has landed waits on ${landingBranch}; take it over: ov merge promote --run ${runId}`;
  return ok({
    json: { runId, targetBranch: target, landingBranch, before },
    text: [
      before === target
        ? `${io.paint.accent(runId)} is for ${visibleLine(target)} already; nothing was changed.`
        : successLine(io.paint, `${runId} is for ${visibleLine(target)} now${was}`),
      ...(where === "" ? [] : [hintLine(io.paint, visibleLine(where))]),
    ].join("\n"),
    quietText: runId,
  });
};

export const complete: Handler = async ({ app, flags, io }) => {
  const waive = numbers("waive", flags.waive);
  if (!waive.ok) return waive;
  const force = flags.force === true;
  const completed = await app.call("run.complete", {
    runId: text(flags.run),
    force,
    waive: waive.value,
    reason: text(flags.reason),
  });
  if (!completed.ok) return completed;
  const { runId, status, open, review } = completed.value;
  const said = review === null ? [] : [hintLine(io.paint, visibleLine(review))];
  if (status === "active") {
    const head = warningLine(io.paint, `Run ${runId} has not ended yet`);
    return ok({ json: endedRunView(completed.value), text: [head, ...said].join("\n"), quietText: "" });
  }
  const left = open.map(({ what }) => hintLine(io.paint, `left open: ${visibleLine(what)}`));
  return ok({
    json: endedRunView(completed.value),
    text: [successLine(io.paint, "Run completed", runId), ...said, ...left].join("\n"),
    quietText: runId,
  });
};

/** The facts of a run, a line each. */
function runLines(
  paint: Paint,
  { run, agentCount, durationMs, status, merges, criteria, lastReview, leftOpen }: RunDetail,
): readonly string[] {
  const fact = (name: string, value: string): string => `  ${paint.dim(name.padEnd(9))}  ${visibleLine(value)}`;
  return [
    `${paint.bold("Run")} ${paint.accent(run.id)}`,
    fact(
      "status",
      status === "needs operator" ? "active, waits for you (ov inbox)" : endedAs({ status, lastReview, leftOpen }),
    ),
    ...(run.objective === null ? [] : [fact("objective", run.objective)]),
    fact("started", shortTime(run.startedAt, Date.now())),
    fact("duration", duration(durationMs)),
    fact("agents", String(agentCount)),
    ...(run.targetBranch === null ? [] : [fact("target", run.targetBranch)]),
    ...(run.landingBranch === null || run.landingBranch === run.targetBranch
      ? []
      : [fact("lands on", `${run.landingBranch}, taken over by: ov merge promote --run ${run.id}`)]),
    ...mergeLines(paint, merges).map((line) => `  ${line}`),
    ...checklistLines(paint, criteria),
    ...lastReviewLines(paint, lastReview),
    ...leftOpen.map((what) => warningLine(paint, `left open: ${visibleLine(what)}`)),
  ];
}

/** The status of a run, with what its end was lacking. */
function endedAs({ status, lastReview, leftOpen }: Pick<RunDetail, "status" | "lastReview" | "leftOpen">): string {
  if (status !== "completed") return status;
  const lacks = [
    ...(lastReview === null || lastReview.verdict === "pass" ? [] : [`last review: ${lastReview.verdict}`]),
    ...(leftOpen.length === 0 ? [] : [`${leftOpen.length} left open`]),
  ];
  return lacks.length === 0 ? status : `${status} (${lacks.join(", ")})`;
}

/** Another agent, or a later generation of its name, has its work. */
const isSucceeded = ({ agent }: RunAgent, all: readonly RunAgent[]): boolean =>
  agent.successorName !== null ||
  all.some(({ agent: other }) => other.name === agent.name && other.generation > agent.generation);

function agentLine(paint: Paint, { agent, durationMs }: RunAgent, succeeded: boolean): string {
  const state = statusWords(paint, agent);
  const icon = succeeded && statusOf(agent).tone === "trouble" ? paint.dim("-") : statusIcon(paint, agent);
  return `  ${icon} ${paint.accent(generationName(agent))}  ${agent.capability}  ${state}  ${duration(durationMs)}`;
}
