import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { AddMergeRequest, MergePreview } from "../../../../usecases/merge/add-entry.ts";
import type { PredictedMerge } from "../../../../usecases/merge/look-ahead.ts";
import type { MergeView } from "../../../../usecases/merge/read-merges.ts";
import type { App } from "../../app.ts";
import type { Call, Outcome, Paint } from "../../command.ts";
import { hintLine } from "../../marks.ts";
import { entryJson, entryLine } from "./render.ts";

/** What merging one branch would do. Writes nothing. */
export async function dryRunBranch({ app, io }: Call, request: AddMergeRequest): Promise<Result<Outcome, Refusal>> {
  const preview = await app.call("merge.preview", request);
  if (!preview.ok) return preview;
  const predicted = await predictAll(app, [preview.value.entry]);
  if (!predicted.ok) return predicted;
  const [one] = predicted.value;
  if (one === undefined) throw new Error("nothing was predicted");
  return ok({ json: predictedJson(one), text: predictionLines(io.paint, one).join("\n") });
}

/** What `--commit-rest` would commit before the merge; undefined where nothing is uncommitted. Writes nothing. */
export async function dryRunCommit({ app, io }: Call, branch: string): Promise<Result<Outcome | undefined, Refusal>> {
  const rest = await app.call("branch.listRests", { branches: [branch] });
  if (!rest.ok) return rest;
  const [first] = rest.value.rests;
  if (first === undefined) return ok(undefined);
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
export async function dryRunAll({ app, io }: Call, views: readonly MergeView[]): Promise<Result<Outcome, Refusal>> {
  if (views.length === 0) {
    const nothing = "Nothing waits for being merged.";
    return ok({ json: { entries: [], results: [], count: 0 }, text: nothing, quietText: "" });
  }
  const predicted = await predictAll(app, inOrder(views));
  if (!predicted.ok) return predicted;
  return ok({
    json: { entries: predicted.value.map(predictedJson), count: predicted.value.length },
    text: predicted.value.flatMap((one) => predictionLines(io.paint, one)).join("\n"),
  });
}

/** Those that could land now in the order in which they would, then the rest. */
const inOrder = (views: readonly MergeView[]): readonly MergePreview[] =>
  views
    .toSorted((a, b) => (a.place ?? Number.MAX_SAFE_INTEGER) - (b.place ?? Number.MAX_SAFE_INTEGER))
    .map(({ entry }) => entry);

export interface Predicted {
  readonly entry: MergePreview;
  readonly prediction: PredictedMerge;
}

/** Predictions for entries that would land in this order, each target apart. */
export async function predictAll(
  app: App,
  entries: readonly MergePreview[],
): Promise<Result<readonly Predicted[], Refusal>> {
  const predicted = new Map<MergePreview, PredictedMerge>();
  for (const target of new Set(entries.map(({ targetBranch }) => targetBranch))) {
    const candidates = entries.filter(({ targetBranch }) => targetBranch === target);
    const runId = candidates[0]?.runId ?? null;
    const asked = candidates.map(({ branch, headCommit }) => ({ branch, headCommit }));
    const found = await app.call("merge.predict", { target, runId, candidates: asked });
    if (!found.ok) return found;
    const { predictions } = found.value;
    for (const [at, entry] of candidates.entries()) {
      const prediction = predictions[at];
      if (prediction !== undefined) predicted.set(entry, prediction);
    }
  }
  return ok([...predicted].map(([entry, prediction]) => ({ entry, prediction })));
}

export const predictedJson = ({ entry, prediction }: Predicted) => ({ ...entryJson(entry), prediction });

function predictionLines(paint: Paint, { entry, prediction }: Predicted): readonly string[] {
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

/** The predicted tier, and whether somebody has to work for it. */
function predictionWords(paint: Paint, { predictedTier, wouldRequireAgent }: PredictedMerge): string {
  return wouldRequireAgent ? paint.red(`${predictedTier}, needs a merger agent`) : paint.green(predictedTier);
}
