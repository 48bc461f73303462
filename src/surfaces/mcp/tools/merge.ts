import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { MergePreview } from "../../../usecases/merge/preview-entry.ts";
import type { Branches, McpApp } from "../app.ts";
import type { ToolHandler } from "../tool-call.ts";

/** What the merge worker would make of a branch now. Leaves nothing behind. */
export const mergePreview: ToolHandler = async (given, { app }) => {
  const branch = given.text("branch");
  const looked = await lookAt(app, branch);
  if (!looked.ok) return looked;
  const { branches, entry } = looked.value;
  const landings = await app.call("merge.landings", { target: entry.targetBranch });
  if (!landings.ok) return landings;
  const { targetBranch: target, runId, headCommit } = entry;
  const candidates = [{ branch, headCommit }];
  const [seen] = await branches.predict({ target, runId, landings: landings.value.branches, candidates });
  if (seen === undefined) throw new Error("a prediction for one branch answered none");
  const { predictedTier, conflictFiles, wouldRequireAgent, reason, gatesLikely } = seen;
  const lines = [
    `${visibleLine(branch)} into ${visibleLine(target)}: ${wouldRequireAgent ? "needs somebody" : "would merge"} (${predictedTier})`,
    visibleLine(reason),
    ...(conflictFiles.length === 0 ? [] : [`conflicts: ${conflictFiles.map(visibleLine).join(", ")}`]),
    ...(gatesLikely.length === 0 ? [] : [`gates: ${gatesLikely.map(visibleLine).join(", ")}`]),
  ];
  return ok({
    text: lines.join("\n"),
    data: { branch, target, predictedTier, conflictFiles, wouldRequireAgent, reason, gatesLikely },
  });
};

/** A place in the queue for a branch of a child. */
export const merge: ToolHandler = async (given, { app }) => {
  const branch = given.text("branch");
  const looked = await lookAt(app, branch);
  if (!looked.ok) return looked;
  const { branches, entry } = looked.value;
  const { headCommit, targetBranch } = entry;
  const filesModified = await branches.changedFiles(targetBranch, { branch, commit: headCommit });
  const queued = await app.call("merge.add", { branch, headCommit, filesModified });
  if (!queued.ok) return queued;
  const { id, status, approval } = queued.value.entry;
  const waits = approval === "waiting" ? " It waits for the operator's approval." : "";
  const first = queued.value.added ? "is in the queue as" : "was in the queue already as";
  return ok({
    text: `${visibleLine(branch)} ${first} merge ${id} (${status}).${waits} You get mail when it has landed or failed.`,
    data: { id, branch, status, approval, added: queued.value.added },
  });
};

export interface LookedAt {
  readonly branches: Branches;
  /** How the queue would hold it: where it lands, for which run. */
  readonly entry: MergePreview;
}

export async function lookAt(app: McpApp, branch: string): Promise<Result<LookedAt, Refusal>> {
  const branches = await app.branches();
  const head = await branches.head(branch);
  if (!head.ok) return head;
  const preview = await app.call("merge.preview", { branch, headCommit: head.value });
  return preview.ok ? ok({ branches, entry: preview.value.entry }) : preview;
}
