import { isOpenMerge, type MergeEntry, openMergeStatuses } from "../../domain/merge/entry.ts";
import type { Tx } from "../../ports/store.ts";

/**
 * The entries that must land before one for this task: those of the tasks it depends on; where such a task has none, of
 * the tasks that one depends on.
 */
export async function dependenciesOf(tx: Tx, taskId: string | null, targetBranch: string): Promise<readonly number[]> {
  if (taskId === null) return [];
  const found = new Set<number>();
  const seen = new Set([taskId]);
  const rest = [taskId];
  for (let task = rest.pop(); task !== undefined; task = rest.pop()) {
    for (const { dependsOn } of await tx.tasks.dependenciesOf(task)) {
      if (seen.has(dependsOn)) continue;
      seen.add(dependsOn);
      const entries = (await tx.merges.list({ taskId: dependsOn })).filter(counts);
      const here = entries.filter((entry) => entry.targetBranch === targetBranch);
      if (here.length === 0) rest.push(dependsOn);
      for (const { id } of here) found.add(id);
    }
  }
  return [...found].toSorted((a, b) => a - b);
}

const counts = (entry: MergeEntry): boolean => isOpenMerge(entry) || entry.status === "merged";

/** Whoever waits for an earlier entry of this branch waits for this one instead: the earlier one will never land. */
export async function redirectDependents(tx: Tx, entry: MergeEntry, now: number): Promise<void> {
  const { id, branch, targetBranch } = entry;
  const earlier = await tx.merges.list({ branch });
  const replaced = new Set(
    earlier
      .filter((other) => other.id < id && other.targetBranch === targetBranch && other.status !== "merged")
      .map((other) => other.id),
  );
  if (replaced.size === 0) return;
  for (const other of await tx.merges.list({ statuses: openMergeStatuses })) {
    if (!other.dependsOn.some((dependency) => replaced.has(dependency))) continue;
    const dependsOn = [...new Set(other.dependsOn.map((dependency) => (replaced.has(dependency) ? id : dependency)))];
    await tx.merges.change(other.id, openMergeStatuses, { dependsOn, updatedAt: now });
  }
}
