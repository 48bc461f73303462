import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { ObjectMerge } from "../../ports/merge-git.ts";
import type { MergePorts } from "./ports.ts";

/**
 * The content of a branch whose last landing was taken back, on top of `onto`. Git takes those commits for merged, so
 * merging them again brings nothing: what was taken back has to be brought back. Undefined when nothing was undone there,
 * or the branch has landed again since.
 */
export async function takeBackTheUndo(
  ports: MergePorts,
  entry: MergeEntry,
  onto: string,
): Promise<ObjectMerge | undefined> {
  const own = await ports.store.read(async (tx): Promise<string | undefined> => {
    for (const { id, status } of (await tx.merges.list({ branch: entry.branch })).toReversed()) {
      if (status === "merged") return undefined;
      const undone = await tx.mergeOps.list({ kind: "undo", status: "done", queueId: id });
      const standing = undone.find((op) => op.undoneBy === null);
      const commit = standing?.request.commits?.[standing.queueIds.indexOf(id)];
      if (commit !== undefined) return commit;
    }
    return undefined;
  });
  if (own === undefined || !(await ports.merging.contains(onto, own))) return undefined;
  return ports.merging.revert(own, onto);
}
