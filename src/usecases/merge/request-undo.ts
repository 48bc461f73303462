import type { MergeOp } from "../../domain/merge/operation.ts";
import { ok } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { findUndo, type Undoable, type UndoTarget } from "./find-undo.ts";
import { promoteFlags, purposeOf } from "./landing-target.ts";
import { newOp } from "./new-op.ts";

/** What taking something back would concern. */
export const planUndo: UseCase<UndoTarget, Undoable> = {
  kind: "read",
  run: (tx, _context, target) => findUndo(tx, target),
};

export interface UndoRequest extends UndoTarget {
  /** The branches go back into the queue. */
  readonly requeue?: boolean | undefined;
}

export interface UndoReply extends Undoable {
  readonly undo: MergeOp;
  /** The flags with which `ov merge promote` brings what the undo leaves to the branch that was promoted. */
  readonly promoteFlags: readonly string[];
}

/** Asks the engine to take something back. Asking twice is asking once. */
export const requestUndo: UseCase<UndoRequest, UndoReply> = {
  kind: "write",
  operatorOnly: true,
  run: async (tx, context, { requeue, ...target }) => {
    const found = await findUndo(tx, target);
    if (!found.ok) return found;
    const { op, entries } = found.value;
    const purpose = await purposeOf(tx, context, op.ref.replace(/^refs\/heads\//, ""));
    const reply = { ...found.value, promoteFlags: purpose === null ? [] : await promoteFlags(tx, purpose) };
    const queueIds = entries.map(({ id }) => id);
    const asked = await askedBefore(tx, op, queueIds);
    if (asked !== undefined) return ok({ ...reply, undo: asked });
    const undo = await newOp(tx, context, {
      kind: "undo",
      ref: op.ref,
      queueIds,
      undoes: op.id,
      request: { requeue: requeue === true },
    });
    return ok({ ...reply, undo });
  },
};

async function askedBefore(tx: Tx, op: MergeOp, queueIds: readonly number[]): Promise<MergeOp | undefined> {
  const wanted = queueIds.join(",");
  const intended = await tx.mergeOps.list({ kind: "undo", status: "intended", ref: op.ref });
  return intended.find((undo) => undo.undoes === op.id && undo.queueIds.join(",") === wanted);
}
