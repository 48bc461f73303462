import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import { standstill } from "../../../../usecases/merge/follow.ts";
import type { Handler, Rows } from "../../command.ts";
import { hintLine, warningLine } from "../../marks.ts";
import { table } from "../../table.ts";
import { type Predicted, predictAll, predictedJson } from "./dry-run.ts";
import { approvalHints, entryJson, mergeCells, noteOf, verdictOf, verdictWords } from "./render.ts";

/** The order in which branches would land now, and what would happen to each. */
export const plan: Handler = async ({ app, io }) => {
  const found = await app.call("merge.list", {});
  if (!found.ok) return found;
  const views = found.value.entries;
  const open = new Map(views.map((view) => [view.entry.id, view]));
  const ready = views.filter(({ place }) => place !== null).toSorted((a, b) => (a.place ?? 0) - (b.place ?? 0));
  const predicted = await predictAll(
    app,
    ready.map(({ entry }) => entry),
  );
  if (!predicted.ok) return predicted;
  const waiting = views
    .filter(({ place }) => place === null)
    .map((view) => ({ view, why: standstill(view, open) ?? (noteOf(view) || view.entry.status) }));
  const rows = rowsOf(predicted.value);
  const nothing = `Nothing could land now.\n${hintLine(io.paint, "see the queue: ov merge list --all")}`;
  const lines = [
    ready.length === 0 ? nothing : table(rows, io.paint, mergeCells(io.paint)),
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
      entries: predicted.value.map(predictedJson),
      waiting: waiting.map(({ view, why }) => ({ ...entryJson(view.entry), waitsFor: view.waitsFor, why })),
    },
    text: lines.join("\n"),
    rows,
  });
};

const rowsOf = (predicted: readonly Predicted[]): Rows => ({
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
  objects: predicted.map(predictedJson),
});
