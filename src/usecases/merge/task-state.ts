import { isIn } from "../../domain/agent/capability.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { touched } from "../../domain/task/change.ts";
import type { MergeState, Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { ownerOfBranch } from "./branch-owner.ts";

/**
 * The task that lands with this branch. The task of a lead does not: it is over when those of its children are, whatever
 * the lead commits itself. Nor does one that its owner only looked at.
 */
export async function taskOf(tx: Tx, { taskId, branch }: MergeEntry): Promise<Task | undefined> {
  const task = taskId === null ? undefined : await tx.tasks.get(taskId);
  if (task === undefined) return undefined;
  const owner = await ownerOfBranch(tx, branch);
  return owner === undefined || isIn("implementation", owner.capability) ? task : undefined;
}

/** Lets the task tell where its branch is. One that is closed is history. */
export async function setMergeState(tx: Tx, entry: MergeEntry, mergeState: MergeState, now: number): Promise<void> {
  const task = await taskOf(tx, entry);
  if (task === undefined || task.status === "closed" || task.mergeState === mergeState) return;
  await tx.tasks.update({ ...touched(task, now), mergeState });
}
