import { addedEntryView, predictedEntryView } from "../../../contract/views/merge.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { MergePreview } from "../../../usecases/merge/queue/add-entry.ts";
import type { McpApp } from "../app.ts";
import type { ToolHandler } from "../tool-call.ts";

/** What the merge worker would make of a branch now. Leaves nothing behind. */
export const mergePreview: ToolHandler = async (given, { app }) => {
  const branch = given.text("branch");
  const looked = await lookAt(app, branch);
  if (!looked.ok) return looked;
  const entry = looked.value;
  const { targetBranch: target, runId, headCommit } = entry;
  const candidates = [{ branch, headCommit }];
  const predicted = await app.call("merge.predict", { target, runId, candidates });
  if (!predicted.ok) return predicted;
  const [seen] = predicted.value.predictions;
  if (seen === undefined) throw new Error("a prediction for one branch answered none");
  const { predictedTier, conflictFiles, wouldRequireAgent, reason, gatesLikely } = seen;
  const lines = [
    `${visibleLine(branch)} into ${visibleLine(target)}: ${wouldRequireAgent ? "needs somebody" : "would merge"} (${predictedTier})`,
    visibleLine(reason),
    ...(conflictFiles.length === 0 ? [] : [`conflicts: ${conflictFiles.map(visibleLine).join(", ")}`]),
    ...(gatesLikely.length === 0 ? [] : [`gates: ${gatesLikely.map(visibleLine).join(", ")}`]),
  ];
  return ok({ text: lines.join("\n"), data: predictedEntryView({ entry, prediction: seen }) });
};

/** A place in the queue for a branch of a child. */
export const merge: ToolHandler = async (given, { app }) => {
  const branch = given.text("branch");
  const looked = await lookAt(app, branch);
  if (!looked.ok) return looked;
  const { headCommit, targetBranch } = looked.value;
  const changed = await app.call("branch.listChanges", { target: targetBranch, branch, commit: headCommit });
  if (!changed.ok) return changed;
  const queued = await app.call("merge.add", { branch, headCommit, filesModified: changed.value.files });
  if (!queued.ok) return queued;
  const { id, status, approval } = queued.value.entry;
  const waits = approval === "waiting" ? " It waits for the operator's approval." : "";
  const first = queued.value.added ? "is in the queue as" : "was in the queue already as";
  return ok({
    text: `${visibleLine(branch)} ${first} merge ${id} (${status}).${waits} You get mail when it has landed or failed.`,
    data: addedEntryView(queued.value),
  });
};

/** How the queue would hold a branch: where it lands, for which run. */
export async function lookAt(app: McpApp, branch: string): Promise<Result<MergePreview, Refusal>> {
  const head = await app.call("branch.find", { branch });
  if (!head.ok) return head;
  const preview = await app.call("merge.preview", { branch, headCommit: head.value.commit });
  return preview.ok ? ok(preview.value.entry) : preview;
}
