import type { Conflict } from "../../domain/merge/ladder.ts";
import { covers } from "../../domain/text/glob.ts";
import type { MergeGit, ResolvedFile } from "../../ports/merge-git.ts";
import type { Settings } from "../../ports/settings.ts";
import { regenerationFor } from "../../structured-merge/index.ts";

/** The command that makes a file, when it is made by one: the project's own word first. */
export function commandFor({ merge }: Pick<Settings, "merge">, path: string): string | undefined {
  const own = merge.generated.find(({ paths }) =>
    paths.some((pattern) => covers(pattern, path) || path.endsWith(`/${pattern}`)),
  );
  return own?.command ?? regenerationFor(path)?.command.join(" ");
}

/** Both sides changed a file that a command makes, so neither text is an author's work: the command settles it. */
export const isMadeAgain = (settings: Pick<Settings, "merge">, { kind, path }: Conflict): boolean =>
  kind === "content" && commandFor(settings, path) !== undefined;

/** What stands in for a generated file until it is made again from what both sides bring: our version of it. */
export async function standIn(
  merging: Pick<MergeGit, "readBlob">,
  { path, ours }: Pick<Conflict, "path" | "ours">,
): Promise<ResolvedFile> {
  const content = ours === null ? null : await merging.readBlob(ours.oid);
  return { path, mode: ours?.mode ?? "100644", content };
}
