import { approvalFor, strongerApproval, waitingReason } from "../../domain/merge/approval.ts";
import type { Approval, MergeEntry, MergeStatus } from "../../domain/merge/entry.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context, UseCase } from "../usecase.ts";
import { askForApproval, endApprovalWait } from "./approval-wait.ts";
import { forbiddenToQueue } from "./branch-owner.ts";
import { factsOf, waitFor } from "./enqueue.ts";
import { findEntry, wrongStatus } from "./find-entry.ts";
import { recordMerge } from "./record-merge.ts";
import { setMergeState } from "./task-state.ts";

type Reply = { readonly entry: MergeEntry };

/** Tries again what did not land, with the same commit. */
export const retryMerge: UseCase<{ readonly of: string }, Reply> = {
  kind: "write",
  run: (tx, context, { of }) => takeUp(tx, context, of, "retry", ["failed", "conflict", "blocked", "cancelled"]),
};

/** Looks at once whether what was in the way of a branch is gone. */
export const resumeMerge: UseCase<{ readonly of: string }, Reply> = {
  kind: "write",
  run: (tx, context, { of }) => takeUp(tx, context, of, "resume", ["blocked"]),
};

async function takeUp(
  tx: Tx,
  context: Context,
  of: string,
  verb: string,
  from: readonly MergeStatus[],
): Promise<Result<Reply, Refusal>> {
  const found = await findEntry(tx, of);
  if (!found.ok) return found;
  const entry = found.value;
  const refused =
    (await forbiddenToQueue(tx, context.caller, entry.branch, verb)) ??
    wrongStatus(entry, from) ??
    (await replacedBy(tx, entry));
  if (refused !== undefined) return no(refused);
  return ok({ entry: await queueAgain(tx, context, entry, from) });
}

async function replacedBy(tx: Tx, { id, branch, targetBranch }: MergeEntry): Promise<Refusal | undefined> {
  const open = await tx.merges.openOf(branch, targetBranch);
  if (open === undefined || open.id === id) return undefined;
  return { kind: "merge-queued", entry: id, branch, instead: open.id };
}

async function queueAgain(
  tx: Tx,
  context: Context,
  entry: MergeEntry,
  from: readonly MergeStatus[],
): Promise<MergeEntry> {
  const { caller, now } = context;
  const approval = approvalOf(context, entry);
  const change = { ...asNew, approval, updatedAt: now };
  await tx.merges.change(entry.id, from, change);
  const again = { ...entry, ...change };
  await setMergeState(tx, again, "queued", now);
  if (caller.kind === "agent") await waitFor(tx, caller.name, again, now);
  const repeated = { again: true, attempts: entry.attempts } as const;
  await recordMerge(tx, context, again, (facts) => ({ type: "merge_queued", data: { ...facts, ...repeated } }));
  if (approval !== "waiting") await endApprovalWait(tx, again, context.now);
  else if (entry.approval !== "waiting" || entry.status !== "blocked") {
    await askForApproval(tx, context, again, waitingReason(factsOf(context, { asker: "parent" })));
  }
  return again;
}

/** A parent cannot overrule the operator's no: it asks again. */
function approvalOf(context: Context, { approval }: MergeEntry): Approval {
  if (context.caller.kind !== "agent") return "operator";
  if (approval === "denied") return "waiting";
  return strongerApproval(approval, approvalFor(factsOf(context, { asker: "parent" })));
}

const asNew = {
  status: "pending",
  notBefore: 0,
  cause: null,
  causeDetail: null,
  tier: null,
  strategy: null,
  verdict: null,
} as const;
