import { addedEntryView, predictedEntryView } from "../../../contract/views/merge.ts";
import { changedFileView } from "../../../contract/views/worktree.ts";
import { type PatchedFile, patchedFiles } from "../../../domain/diff/patched-files.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { MergePreview } from "../../../usecases/merge/queue/add-entry.ts";
import type { McpApp, ToolHandler } from "../tool-call.ts";

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
  const planned = await app.call("merge.planAdd", { branch, listsFiles: true });
  if (!planned.ok) return planned;
  const queued = await app.call("merge.add", planned.value);
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
async function lookAt(app: McpApp, branch: string): Promise<Result<MergePreview, Refusal>> {
  const head = await app.call("branch.find", { branch });
  if (!head.ok) return head;
  const preview = await app.call("merge.preview", { branch, headCommit: head.value.commit });
  return preview.ok ? ok(preview.value.entry) : preview;
}

/** About as much as a model should read at once. */
const maxChars = 60_000;

/** What a branch changes against where it will land, file by file. */
export const diff: ToolHandler = async (given, { app }) => {
  const branch = given.text("branch");
  const patch = await app.call("branch.diff", { branch });
  if (!patch.ok) return patch;
  const below = given.texts("files") ?? [];
  const all = patchedFiles(patch.value.patch);
  const wanted = below.length === 0 ? all : all.filter(({ path }) => below.some((start) => isBelow(path, start)));
  const shown = fitting(wanted);
  const left = wanted.slice(shown.length);
  const lines = [
    `${visibleLine(branch)} changes ${wanted.length} of ${all.length} files${wanted.length === all.length ? "" : " (narrowed)"}:`,
    ...wanted.map(({ path, added, removed }) => `+${added} -${removed} ${visibleLine(path)}`),
    ...(left.length === 0
      ? []
      : [`Not shown below, ask with files: ${left.map(({ path }) => visibleLine(path)).join(", ")}`]),
    ...shown.map(({ text }) => `\n${visibleText(text.trimEnd())}`),
  ];
  const files = wanted.map(changedFileView);
  return ok({ text: lines.join("\n"), data: { branch, files, notShown: left.map(({ path }) => path) } });
};

/** At least one file is shown, cut if need be. */
function fitting(files: readonly PatchedFile[]): readonly PatchedFile[] {
  let charsLeft = maxChars;
  const end = files.findIndex(({ text }, index) => {
    charsLeft -= text.length;
    return index > 0 && charsLeft < 0;
  });
  const chosen = end < 0 ? files : files.slice(0, end);
  return chosen.map((file) =>
    file.text.length <= maxChars ? file : { ...file, text: `${file.text.slice(0, maxChars)}\n[cut here]` },
  );
}

const isBelow = (path: string, start: string): boolean => {
  const folder = start.replace(/\/+$/, "");
  return path === folder || path.startsWith(`${folder}/`);
};
