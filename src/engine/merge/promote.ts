import { isOpenMerge } from "../../domain/merge/entry.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import type { FastForward } from "../../ports/merge-git.ts";
import { enqueueBranch } from "../../usecases/merge/enqueue.ts";
import { settlePromotion } from "../../usecases/merge/settle-promotion.ts";
import { branchRef, type MergePorts, mergeContext } from "./ports.ts";

/**
 * Takes what landed over into the branch it was meant for, by a fast-forward and nothing else. When that branch has
 * commits of its own by now, they first land on the landing branch, through the gates like any other. Answers whether
 * anything was done.
 */
export async function promote(ports: MergePorts, op: MergeOp): Promise<boolean> {
  const { merging } = ports;
  const { landing, target } = op.request;
  if (landing === undefined || target === undefined) return end(ports, op, "it names no branches");
  const [from, to] = [await merging.commitOf(branchRef(target)), await merging.commitOf(branchRef(landing))];
  if (from === undefined) return end(ports, op, `there is no branch ${target}`);
  if (to === undefined) return end(ports, op, `there is no branch ${landing}`);
  // Where it was before is on record when whoever moved it died before they could say so.
  if (await merging.contains(from, to)) return finish(ports, op, { from: op.beforeCommit ?? from, to: from });
  if (!(await merging.contains(to, from))) return bringIn(ports, op, { landing, target, head: from });
  const [checkout] = await merging.checkoutsOf(target);
  if (op.request.onlyIfClean === true && checkout !== undefined && !(await merging.isClean(checkout))) {
    return end(ports, op, `local_changes: the checkout of ${target} has changes that are not committed`);
  }
  await ports.store.transaction((tx) =>
    tx.mergeOps.settle(op.id, { beforeCommit: from, afterCommit: to, updatedAt: ports.clock.now() }),
  );
  ports.reach("merge.before-land");
  const moved = await move(ports, { target, from, to });
  ports.reach("merge.after-land");
  switch (moved.kind) {
    case "done":
      return finish(ports, op, { from, to });
    case "local-changes":
      return end(
        ports,
        op,
        `local_changes: these files in the checkout of ${target} are in the way: ${moved.paths.join(", ")}`,
      );
    case "moved":
      // Somebody committed to it this moment, and the next look starts over; or it may not be moved at all.
      return (await merging.commitOf(branchRef(target))) === from ? end(ports, op, moved.problem) : true;
    case "failed":
      return end(ports, op, moved.problem);
  }
}

async function move(
  { merging }: MergePorts,
  { target, from, to }: { readonly target: string; readonly from: string; readonly to: string },
): Promise<FastForward> {
  const [checkout] = await merging.checkoutsOf(target);
  if (checkout !== undefined) return merging.fastForward(checkout, from, to);
  const moved = await merging.updateRefs([{ ref: branchRef(target), from, to }], "overstory: promote");
  return moved.kind === "updated" ? { kind: "done" } : { kind: "moved", problem: moved.problem };
}

/** The target's own commits go through the queue; this promotion waits for them. False while nothing new is to be done. */
async function bringIn(
  ports: MergePorts,
  op: MergeOp,
  { landing, target, head }: { readonly landing: string; readonly target: string; readonly head: string },
): Promise<boolean> {
  const context = mergeContext(ports);
  const earlier = (await ports.store.read((tx) => tx.merges.list({ branch: target }))).findLast(
    (entry) => entry.headCommit === head && entry.targetBranch === landing && entry.enqueuedAt >= op.createdAt,
  );
  if (earlier !== undefined && isOpenMerge(earlier)) return false;
  if (earlier !== undefined) {
    const { cause, status, causeDetail } = earlier;
    const why = causeDetail?.message ?? `its entry #${earlier.id} in the queue is ${status}`;
    return end(ports, op, `${cause ?? status}: ${target} has moved and cannot be brought in: ${why}`);
  }
  await ports.store.transaction((tx) =>
    enqueueBranch(tx, context, {
      branch: target,
      headCommit: head,
      targetBranch: landing,
      taskId: null,
      agentName: null,
      runId: op.request.runId ?? null,
      filesModified: [],
      priority: 0,
      source: "engine",
      enqueuedBy: op.actor,
      asker: "operator",
    }),
  );
  return true;
}

async function finish(ports: MergePorts, op: MergeOp, { from, to }: { from: string; to: string }): Promise<boolean> {
  await ports.store.transaction((tx) =>
    settlePromotion(tx, mergeContext(ports), op, {
      status: "done",
      beforeCommit: from,
      afterCommit: to,
      problem: null,
    }),
  );
  ports.reach("merge.after-fact");
  return true;
}

async function end(ports: MergePorts, op: MergeOp, problem: string): Promise<boolean> {
  await ports.store.transaction((tx) => settlePromotion(tx, mergeContext(ports), op, { status: "dropped", problem }));
  return true;
}
