import type { Conflict } from "../../domain/merge/conflict.ts";
import type { MergeGit, ResolvedFile } from "../../ports/merge-git.ts";

/** Both sides changed what a command makes, so neither text is anybody's work: the command settles it. */
export const isMadeAgain = ({ kind, path }: Conflict, commandFor: (path: string) => string | undefined): boolean =>
  kind === "content" && commandFor(path) !== undefined;

/** What stands in for a generated file until it is made again from what both sides bring: our version of it. */
export async function standIn(
  merging: Pick<MergeGit, "readBlob">,
  { path, ours }: Pick<Conflict, "path" | "ours">,
): Promise<ResolvedFile> {
  const content = ours === null ? null : await merging.readBlob(ours.oid);
  return { path, mode: ours?.mode ?? "100644", content };
}
