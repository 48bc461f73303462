import { type MergeEntry, mergeStatuses } from "../../../domain/merge/entry.ts";
import type { LostLanding } from "../../../domain/merge/landing-branch.ts";
import type { MergeOp } from "../../../domain/merge/operation.ts";
import { closeTask, isDropped, reopenTask } from "../../../domain/task/change.ts";
import type { Tx } from "../../../ports/store.ts";
import { followClosing } from "../../tasks/close-task.ts";
import type { Context } from "../../usecase.ts";
import { ownerOfBranch, taskOf } from "../branch-owner.ts";
import { recordMerge } from "../merge-records.ts";
import { notify } from "../notify.ts";
import { enqueueBranch } from "../queue/enqueue.ts";

interface Undone {
  /** The operation of kind undo. */
  readonly op: MergeOp;
  readonly beforeCommit: string;
  readonly afterCommit: string;
}

/**
 * All consequences of an undo, in the transaction that records it. False, without any change, if it was recorded
 * before. Undoing an undo makes its work count as landed again.
 */
export async function undone(tx: Tx, context: Context, { op, beforeCommit, afterCommit }: Undone): Promise<boolean> {
  const { request } = op;
  const facts = { status: "done", beforeCommit, afterCommit, request, updatedAt: context.now } as const;
  if (!(await tx.mergeOps.settle(op.id, facts))) return false;
  const target = op.undoes === null ? undefined : await tx.mergeOps.get(op.undoes);
  const restores = target?.kind === "undo";
  for (const [at, id] of op.queueIds.entries()) {
    const entry = await tx.merges.get(id);
    if (entry === undefined) continue;
    const commit = op.request.commits?.[at] ?? entry.resultCommit;
    if (restores) await restore(tx, context, entry, commit);
    else await takeBack(tx, context, entry, op);
    for (const same of await duplicatesOf(tx, entry)) {
      const change = restores
        ? ({ status: "merged", resultCommit: commit } as const)
        : ({ status: "reverted" } as const);
      await tx.merges.change(same.id, [restores ? "reverted" : "merged"], { ...change, updatedAt: context.now });
    }
  }
  if (target !== undefined && (await isNoneLeft(tx, target, restores ? "reverted" : "merged"))) {
    await tx.mergeOps.setUndoneBy(target.id, op.id);
    if (restores && target.undoes !== null) await tx.mergeOps.setUndoneBy(target.undoes, null);
  }
  return true;
}

/**
 * The same for landings that left their branch by a decision of the operator, without an undo. Returns those that
 * counted as landed until now.
 */
export async function leftBehind(
  tx: Tx,
  context: Context,
  op: MergeOp,
  lost: readonly LostLanding[],
): Promise<readonly LostLanding[]> {
  const gone: LostLanding[] = [];
  for (const { id, branch } of lost) {
    const entry = await tx.merges.get(id);
    if (entry?.status !== "merged") continue;
    gone.push({ id, branch });
    await takeBack(tx, context, entry, op);
    for (const same of await duplicatesOf(tx, entry)) {
      await tx.merges.change(same.id, ["merged"], { status: "reverted", updatedAt: context.now });
    }
    for (const landing of await tx.mergeOps.list({ kind: "land", status: "done", queueId: id })) {
      if (landing.undoneBy !== null || !(await isNoneLeft(tx, landing, "merged"))) continue;
      await tx.mergeOps.setUndoneBy(landing.id, op.id);
    }
  }
  return gone;
}

/** Entries that found the same commits there already landed nothing themselves: they share what becomes of this one. */
async function duplicatesOf(tx: Tx, entry: MergeEntry): Promise<readonly MergeEntry[]> {
  const others = (await tx.merges.list({ statuses: ["merged", "reverted"] })).filter(
    ({ id, branch, headCommit, targetBranch }) =>
      id !== entry.id &&
      targetBranch === entry.targetBranch &&
      (branch === entry.branch || headCommit === entry.headCommit),
  );
  const found: MergeEntry[] = [];
  for (const other of others) {
    if ((await tx.mergeOps.list({ kind: "land", queueId: other.id, limit: 1 })).length === 0) found.push(other);
  }
  return found;
}

async function takeBack(tx: Tx, context: Context, entry: MergeEntry, op: MergeOp): Promise<void> {
  await tx.merges.change(entry.id, mergeStatuses, { status: "reverted", updatedAt: context.now });
  await reopenTaskOf(tx, context, entry);
  const requeue = op.request.requeue === true;
  // Taking work out approves nothing: the entry waits for an approval like a new one. Its source stays: an entry of the
  // engine without an agent would count as the target's own commits.
  if (requeue) await enqueueBranch(tx, context, { ...entry, enqueuedBy: op.actor, asker: "other" });
  await tell(
    tx,
    context,
    entry,
    requeue
      ? "It is in the merge queue again and waits for approval."
      : `It will not land again by itself. The operator brings it back with: ov merge undo ${op.id}`,
    op,
  );
  await recordMerge(tx, context, entry, (facts) => ({
    type: "merge_undone",
    data: { ...facts, opId: op.id, requeue },
  }));
}

/** Marks an entry as landed again. `commit`: what brought its work back, or the commit that first landed it. */
async function restore(tx: Tx, context: Context, entry: MergeEntry, commit: string | null): Promise<void> {
  await tx.merges.change(entry.id, ["reverted"], { status: "merged", resultCommit: commit, updatedAt: context.now });
  const task = await taskOf(tx, entry);
  if (task !== undefined && context.settings.merge.closeTask) {
    await tx.tasks.update({ ...closeTask(task, `landed on ${entry.targetBranch}`, context.now), mergeState: "merged" });
    await followClosing(tx, context, [task.id]);
  }
  await recordMerge(tx, context, entry, (facts) => ({
    type: "merge_landed",
    data: { ...facts, commit, restored: true },
  }));
}

/**
 * Reopens the task that the landing closed, and the tasks of leads that it is part of. A task that a person reopened before
 * is left as it is.
 */
async function reopenTaskOf(tx: Tx, context: Context, entry: MergeEntry): Promise<void> {
  const task = await taskOf(tx, entry);
  if (task?.status !== "closed") return;
  const reopened = reopenTask(task, context.now);
  if (!reopened.ok) return;
  await tx.tasks.update(reopened.value);
  await reopenAbove(tx, context, task.id);
}

/** The task of a lead that has finished waits in review until the tasks below it are closed again. */
async function reopenAbove(tx: Tx, context: Context, taskId: string): Promise<void> {
  for (const { parentName } of await tx.agents.list({ taskId })) {
    const lead = await tx.agents.byName(parentName);
    const above = lead?.taskId == null || lead.taskId === taskId ? undefined : await tx.tasks.get(lead.taskId);
    if (above?.status !== "closed" || lead?.outcome !== "done" || isDropped(above)) continue;
    const reopened = reopenTask(above, context.now);
    if (!reopened.ok) continue;
    await tx.tasks.update({ ...reopened.value, status: "in_review" });
    await reopenAbove(tx, context, above.id);
  }
}

async function tell(tx: Tx, context: Context, entry: MergeEntry, next: string, op: MergeOp): Promise<void> {
  const owner = await ownerOfBranch(tx, entry.branch);
  await notify(tx, context, owner === undefined ? ["operator"] : [owner.name, owner.parentName], {
    subject: `merge undone: ${entry.branch}`,
    body: `${op.actor} took ${entry.branch} out of ${entry.targetBranch} again. ${next}`,
    payload: JSON.stringify({ branch: entry.branch, queueId: entry.id, opId: op.id, undoneBy: op.actor }),
    type: "status",
    priority: "normal",
    runId: entry.runId,
  });
}

/** Has no entry of the operation this status any more? */
async function isNoneLeft(tx: Tx, target: MergeOp, status: MergeEntry["status"]): Promise<boolean> {
  for (const id of target.queueIds) {
    if ((await tx.merges.get(id))?.status === status) return false;
  }
  return true;
}
