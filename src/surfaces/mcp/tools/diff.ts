import { changedFileView } from "../../../contract/views/worktree.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../domain/text/visible.ts";
import type { MergePreview } from "../../../usecases/merge/queue/add-entry.ts";
import { type PatchedFile, patchedFiles } from "../../shared/patch.ts";
import type { McpApp } from "../app.ts";
import type { ToolHandler } from "../tool-call.ts";
import { lookAt } from "./merge.ts";

/** About as much as a model should read at once. */
const maxChars = 60_000;

/** What a branch changes against where it will land, file by file. */
export const diff: ToolHandler = async (given, { app }) => {
  const branch = given.text("branch");
  const looked = await lookAt(app, branch);
  if (!looked.ok) return looked;
  const patch = await patchOf(app, branch, looked.value);
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

/** Work that landed meanwhile is part of the landing branch, not of this change. */
async function patchOf(
  app: McpApp,
  branch: string,
  entry: MergePreview,
): Promise<Result<{ readonly patch: string }, Refusal>> {
  const { headCommit, targetBranch, resultCommit, runId } = entry;
  const run = runId === null ? undefined : await app.call("run.show", { id: runId });
  const landing = run?.ok === true ? run.value.run.landingBranch : null;
  const of = { branch, headCommit, resultCommit };
  if (landing !== null && landing !== targetBranch) {
    const patch = await app.call("merge.showPatch", { ...of, targetBranch: landing });
    // The landing branch exists once something has landed there; before, work starts from the target.
    if (patch.ok) return patch;
  }
  return app.call("merge.showPatch", { ...of, targetBranch });
}

/** At least one file is shown, cut if need be. */
function fitting(files: readonly PatchedFile[]): readonly PatchedFile[] {
  let room = maxChars;
  const end = files.findIndex(({ text }, index) => {
    room -= text.length;
    return index > 0 && room < 0;
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
