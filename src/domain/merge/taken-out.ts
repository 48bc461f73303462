/**
 * Git takes a commit for merged for ever: a branch that landed and was taken out again by a later commit is still in the
 * history of the target. So ancestry alone does not say whether the work of a branch is in a target. The operations on
 * record do: each commit that landed the branch, took it out or brought it back says something about it, and the newest
 * of those that the target has is what holds.
 */
export interface WordAboutBranch {
  readonly says: "landed" | "taken out" | "brought back";
  /** The commit of the landing branch that did it. */
  readonly commit: string;
  readonly queueId: number;
  readonly opId: string;
}

/** A landing of a branch that a target has lost again. */
export interface TakenOut {
  /** The commit that took it out; reverting this commit brings the work back. */
  readonly by: string;
  readonly opId: string;
  readonly queueId: number;
  /** The commit that landed it; null when no row names it. */
  readonly landedBy: string | null;
}

/**
 * The landings of a branch that a target has lost again and not got back, the last lost one first. Empty when the target
 * lost none, or has all of them back. `words` has the newest first; `has` says whether the target has a commit in its
 * history.
 *
 * A landing brings back everything that was taken out of its branch before, so older words do not count after one.
 */
export async function takenOut(
  words: readonly WordAboutBranch[],
  has: (commit: string) => Promise<boolean>,
): Promise<readonly TakenOut[]> {
  const out: TakenOut[] = [];
  const decided = new Set<number>();
  for (const { says, commit, queueId, opId } of words) {
    if (!(await has(commit))) continue;
    if (says === "landed") break;
    if (decided.has(queueId)) continue;
    decided.add(queueId);
    if (says === "brought back") continue;
    const landed = words.find((word) => word.says === "landed" && word.queueId === queueId);
    out.push({ by: commit, opId, queueId, landedBy: landed?.commit ?? null });
  }
  return out;
}

/** Says what happened last to a branch that has not landed; undefined when nothing was taken out of it. */
export function takenOutWords([last]: readonly WordAboutBranch[]): string | undefined {
  return last?.says === "taken out" ? `it landed and was taken out again (${last.opId})` : undefined;
}
