import { predictedEntryView, radarView, waitingEntryView } from "../../../contract/views/merge.ts";
import { verdictOf } from "../../../domain/merge/entry.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { PredictedMerge } from "../../../usecases/merge/look-ahead.ts";
import { type PredictedEntry, predictEach } from "../../../usecases/merge/plan-queue.ts";
import type { AddMergeRequest, MergePreview } from "../../../usecases/merge/queue/add-entry.ts";
import type { RadarCell, RadarReply } from "../../../usecases/merge/radar.ts";
import type { QueuedMerge } from "../../../usecases/merge/read-merges.ts";
import type { Call, Handler, Outcome, Paint, Rows } from "../command.ts";
import { hintLine, warningLine } from "../marks.ts";
import { table } from "../table.ts";
import { approvalHints, entryLine, mergeCells, noteOf, verdictWords } from "./merge-render.ts";

/** The order in which branches would land now, and what would happen to each. */
export const plan: Handler = async ({ app, io }) => {
  const found = await app.call("merge.plan", {});
  if (!found.ok) return found;
  const { predicted } = found.value;
  const waiting = found.value.waiting.map(({ merge: view, why }) => ({
    view,
    why: why ?? (noteOf(view) || view.entry.status),
  }));
  const rows = rowsOf(predicted);
  const nothing = `Nothing could land now.\n${hintLine(io.paint, "see the queue: ov merge list --all")}`;
  const lines = [
    predicted.length === 0 ? nothing : table(rows, io.paint, mergeCells(io.paint)),
    ...waiting.map(({ view, why }) =>
      warningLine(io.paint, `#${view.entry.id} ${visibleLine(view.entry.branch)}: ${visibleLine(why)}`),
    ),
    ...approvalHints(
      io.paint,
      waiting.map(({ view }) => view.entry),
    ),
  ];
  return ok({
    json: {
      entries: predicted.map(predictedEntryView),
      waiting: waiting.map(waitingEntryView),
    },
    text: lines.join("\n"),
    rows,
  });
};

const rowsOf = (predicted: readonly PredictedEntry[]): Rows => ({
  columns: ["#", "ID", "BRANCH", "INTO", "VERDICT", "PREDICTION", "REASON"],
  cells: predicted.map(({ entry, prediction }, at) => [
    String(at + 1),
    String(entry.id ?? ""),
    entry.branch,
    entry.targetBranch,
    verdictWords(verdictOf(entry)),
    prediction.wouldRequireAgent ? `${prediction.predictedTier} (needs a merger agent)` : prediction.predictedTier,
    prediction.reason,
  ]),
  objects: predicted.map(predictedEntryView),
});

/** What merging one branch would do. Writes nothing. */
export async function dryRunBranch({ app, io }: Call, request: AddMergeRequest): Promise<Result<Outcome, Refusal>> {
  const preview = await app.call("merge.preview", request);
  if (!preview.ok) return preview;
  const predicted = await predictEach(app.call, [preview.value.entry]);
  if (!predicted.ok) return predicted;
  const [one] = predicted.value;
  if (one === undefined) throw new Error("nothing was predicted");
  return ok({ json: predictedEntryView(one), text: predictionLines(io.paint, one).join("\n") });
}

/** What `--commit-rest` would commit before the merge; undefined where nothing is uncommitted. Writes nothing. */
export async function dryRunCommit({ app, io }: Call, branch: string): Promise<Result<Outcome | undefined, Refusal>> {
  const rest = await app.call("branch.listRests", { branches: [branch], isDryRun: true });
  if (!rest.ok) return rest;
  const [first] = rest.value.rests;
  if (first === undefined) return ok(undefined);
  if (!first.mayCommit) return no(first.refusal);
  const allowed = await app.call("branch.checkRest", { branch });
  if (!allowed.ok) return allowed;
  const { agentName, files } = first;
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  return ok({
    json: { branch, wouldCommit: { agentName, files } },
    text: [
      `Would commit ${count} that ${visibleLine(agentName)} left uncommitted, then merge ${visibleLine(branch)}:`,
      ...files.map((path) => `  ${visibleLine(path)}`),
      hintLine(io.paint, `do it: ov merge --branch ${visibleLine(branch)} --commit-rest`),
    ].join("\n"),
  });
}

/** What merging everything would do, one upon the other. Writes nothing. */
export async function dryRunAll({ app, io }: Call, views: readonly QueuedMerge[]): Promise<Result<Outcome, Refusal>> {
  if (views.length === 0) {
    const nothing = "Nothing waits for being merged.";
    return ok({ json: { entries: [], results: [], count: 0 }, text: nothing, quietText: "" });
  }
  const predicted = await predictEach(app.call, inOrder(views));
  if (!predicted.ok) return predicted;
  return ok({
    json: { entries: predicted.value.map(predictedEntryView), count: predicted.value.length },
    text: predicted.value.flatMap((one) => predictionLines(io.paint, one)).join("\n"),
  });
}

/** Those that could land now in the order in which they would, then the rest. */
const inOrder = (views: readonly QueuedMerge[]): readonly MergePreview[] =>
  views
    .toSorted((a, b) => (a.place ?? Number.MAX_SAFE_INTEGER) - (b.place ?? Number.MAX_SAFE_INTEGER))
    .map(({ entry }) => entry);

function predictionLines(paint: Paint, { entry, prediction }: PredictedEntry): readonly string[] {
  const files = entry.filesModified.map(visibleLine).join(", ");
  const gates = prediction.gatesLikely;
  return [
    entryLine(paint, entry).trimStart(),
    ...(entry.filesModified.length === 0 ? [] : [`  files: ${files}`]),
    `  ${predictionWords(paint, prediction)}`,
    `  ${visibleLine(prediction.reason)}`,
    ...(gates.length === 0
      ? []
      : [hintLine(paint, `gates that would look at it: ${gates.map(visibleLine).join(", ")}`)]),
  ];
}

/** The predicted tier, and whether an agent has to work for it. */
function predictionWords(paint: Paint, { predictedTier, wouldRequireAgent }: PredictedMerge): string {
  return wouldRequireAgent ? paint.red(`${predictedTier}, needs a merger agent`) : paint.green(predictedTier);
}

/** Live branches that would collide with each other or with landed work. */
export const radar: Handler = async ({ app, io }) => {
  const found = await app.call("merge.radar", {});
  if (!found.ok) return found;
  const { branches, pairs } = found.value;
  const view = radarView(found.value);
  const lines =
    branches.length === 0 ? nothing(io.paint) : [matrix(io.paint, branches, pairs), ...notes(io.paint, pairs)];
  return ok({
    json: view,
    text: lines.join("\n"),
    rows: {
      columns: ["A", "B", "OUTCOME", "FILES"],
      cells: view.pairs.map(({ a, b, outcome, files }) => [a, b, outcome, files.join(", ")]),
      objects: view.pairs,
    },
  });
};

const nothing = (paint: Paint): readonly string[] => [
  "No agent has work that could collide.",
  hintLine(paint, "see the queue: ov merge list"),
];

const looks = {
  clean: ["·", "green"],
  structured: ["s", "yellow"],
  conflict: ["X", "red"],
} as const satisfies Record<string, readonly [sign: string, hue: keyof Paint]>;

/** One row and one numbered column per branch; only one half is filled, for the other says the same. */
function matrix(paint: Paint, branches: RadarReply["branches"], pairs: readonly RadarCell[]): string {
  const cellOf = new Map(pairs.map((pair) => [`${pair.a}\0${pair.b}`, pair]));
  const ordered = branches.map(({ branch }) => branch).toSorted();
  const cells = ordered.map((row, at) => [
    String(at + 1),
    row,
    ...ordered.map((column, to) => (to >= at ? "" : signOf(cellOf.get(`${column}\0${row}`)))),
  ]);
  const columns = ["#", "BRANCH", ...ordered.map((_, at) => String(at + 1))];
  return table({ columns, cells }, paint, (cell, column) => {
    if (column === "BRANCH") return paint.accent(cell);
    const look = column === "#" ? undefined : Object.values(looks).find(([sign]) => sign === cell);
    return look === undefined ? cell : paint[look[1]](cell);
  });
}

function signOf(pair: RadarCell | undefined): string {
  if (pair === undefined) return "";
  return pair.outcome === null ? "?" : looks[pair.outcome][0];
}

function notes(paint: Paint, pairs: readonly RadarCell[]): readonly string[] {
  const meet = pairs.filter(({ outcome }) => outcome === "conflict" || outcome === "structured");
  const legend = `${looks.clean[0]} clean  ${looks.structured[0]} settled by rule  ${looks.conflict[0]} conflict`;
  return [
    "",
    paint.dim(legend),
    ...meet.map(({ a, b, outcome, files }) => {
      const where = files.length === 0 ? "no history in common" : files.map(visibleLine).join(", ");
      const word = outcome === "conflict" ? paint.red("conflict") : paint.yellow("by rule");
      return `  ${word}  ${visibleLine(a)} and ${visibleLine(b)}: ${where}`;
    }),
  ];
}
