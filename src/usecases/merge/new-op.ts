import type { MergeOp } from "../../domain/merge/operation.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

/** Writes down what is about to happen to a ref, before it does. */
export async function newOp(
  tx: Tx,
  { caller, ids, now }: Pick<Context, "caller" | "ids" | "now">,
  about: Pick<MergeOp, "kind" | "ref" | "queueIds"> &
    Partial<Pick<MergeOp, "beforeCommit" | "afterCommit" | "undoes" | "request">>,
): Promise<MergeOp> {
  const id = ids.next("op");
  const op: Omit<MergeOp, "seq"> = {
    beforeCommit: null,
    afterCommit: null,
    undoes: null,
    request: {},
    ...about,
    id,
    actor: caller.name,
    status: "intended",
    undoneBy: null,
    problem: null,
    createdAt: now,
    updatedAt: now,
  };
  await tx.mergeOps.insert(op);
  const stored = await tx.mergeOps.get(id);
  if (stored === undefined) throw new Error(`operation ${id} was not stored`);
  return stored;
}
