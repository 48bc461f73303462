import type { StoredCheck } from "../../domain/completion/check.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

/** What must be said about a check; everything else is for the engine to find out. */
export type NewCheck = Pick<StoredCheck, "kind" | "agentId" | "agentName" | "refName" | "request">;

export interface CheckTicket {
  /** What to ask for the answer with. */
  readonly id: string;
  /** The same was asked before and is not answered yet. */
  readonly attached: boolean;
}

/** Stores what was asked for; the engine that is woken after the transaction takes it up. */
export async function queueCheck(
  tx: Tx,
  { ids, now, caller }: Pick<Context, "ids" | "now" | "caller">,
  check: NewCheck,
): Promise<CheckTicket> {
  const id = ids.next("check");
  await tx.checks.insert({
    ...check,
    id,
    commitId: null,
    status: "queued",
    progress: null,
    verdict: null,
    receiptId: null,
    problem: [],
    attempts: 0,
    requestedBy: caller.name,
    createdAt: now,
    updatedAt: now,
  });
  return { id, attached: false };
}
