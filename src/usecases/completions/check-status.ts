import { isOpenCheck, type StoredCheck } from "../../domain/completion/check.ts";
import type { GateResult, Receipt } from "../../domain/gate/gate.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { Stream } from "../operation.ts";
import type { UseCase } from "../usecase.ts";

export interface CheckReply {
  readonly check: StoredCheck;
  /** The evidence, once there is some, and the gate results it rests on. */
  readonly receipt: Receipt | null;
  readonly results: readonly GateResult[];
}

/** How far a stored check is, and in the end its answer. */
export const checkStatus: UseCase<{ readonly id: string }, CheckReply> = {
  kind: "read",
  run: async (tx, _context, { id }) => {
    const check = await tx.checks.get(id);
    if (check === undefined) return no(notFound("check", id));
    const receipt = check.receiptId === null ? undefined : await tx.receipts.get(check.receiptId);
    const results = receipt === undefined ? [] : await tx.gates.all(receipt.results);
    return ok({ check, receipt: receipt ?? null, results });
  },
};

/**
 * Waits for the answer to a stored check. The check lives in the store: when the caller leaves, it goes on, and asking
 * again attaches to it. Undefined: nobody waits any more.
 */
export const followCheck: Stream<{ readonly id: string }, CheckReply | undefined, StoredCheck> = {
  kind: "stream",
  place: "engine",
  run: async (world, request, { onItem, signal }) =>
    world.until(async () => {
      if (signal.aborted) return ok(undefined);
      const found = await world.call("done.status", request);
      if (!found.ok || !isOpenCheck(found.value.check)) return found;
      onItem(found.value.check);
      return undefined;
    }, signal),
};
