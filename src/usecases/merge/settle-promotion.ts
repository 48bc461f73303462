import { promoteCommand } from "../../domain/merge/join-command.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { tellOperator } from "../mail/post.ts";
import type { Context } from "../usecase.ts";

export type Promotion = Pick<MergeOp, "status" | "problem"> &
  Partial<Pick<MergeOp, "beforeCommit" | "afterCommit" | "request">>;

/** Ends a promotion, in the transaction that records it. Whoever asked for it learns why when nothing was moved. */
export async function settlePromotion(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  op: MergeOp,
  end: Promotion,
): Promise<void> {
  if (!(await tx.mergeOps.settle(op.id, { ...end, updatedAt: context.now }))) return;
  const { landing = "", target = "", runId = null, removedLocks = [] } = op.request;
  const done = end.status === "done";
  if (done && end.beforeCommit === end.afterCommit) return;
  await record(tx, context.now, {
    source: "engine",
    runId,
    type: done ? "merge_promoted" : "merge_promote_failed",
    level: done ? "info" : "warn",
    data: { opId: op.id, landing, target, commit: end.afterCommit ?? null, problem: end.problem, removedLocks },
  });
  // A landing branch that was moved, or a target that was rewritten, is already a decision in the inbox.
  if (done || op.request.cause === "foreign_tip" || op.request.cause === "rewritten_target") return;
  await tellOperator(tx, context, {
    runId,
    subject: `not promoted: ${target}`,
    body: `${landing} could not be taken over into ${target}: ${end.problem ?? ""}\nNothing was changed. Try again with: ${promoteCommand({ runId, target })}`,
    type: "error",
    priority: "normal",
  });
}
