import { type MergeEntry, type MergeStatus, openMergeStatuses } from "../../domain/merge/entry.ts";
import { no, ok } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { giveUpUnlanded, releaseIfDue } from "../agents/release-agent.ts";
import { byCaller } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { endMergeWaits } from "./approval-wait.ts";
import { ownerOfBranch } from "./branch-owner.ts";
import { findEntry, isLanding, landingBusy, wrongStatus } from "./find-entry.ts";
import { notify } from "./notify.ts";
import { recordMerge } from "./record-merge.ts";
import { setMergeState } from "./task-state.ts";

/** Takes a branch out of the queue. It stays as it is, nobody is sent back to work, its agent may go, and its task is ready again. */
export const cancelMerge: UseCase<{ readonly of: string }, { readonly entry: MergeEntry }> = {
  kind: "write",
  operatorOnly: true,
  run: async (tx, context, { of }) => {
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    const entry = found.value;
    const refused = wrongStatus(entry, cancellable);
    if (refused !== undefined) return no(refused);
    if (await isLanding(tx, entry)) return no(landingBusy(entry));
    return ok({ entry: await cancel(tx, context, entry) });
  },
};

/** What failed may be given up too. */
const cancellable: readonly MergeStatus[] = [...openMergeStatuses, "conflict", "failed"];

async function cancel(tx: Tx, context: Context, entry: MergeEntry): Promise<MergeEntry> {
  const change = { status: "cancelled", updatedAt: context.now } as const;
  await tx.merges.change(entry.id, cancellable, change);
  await setMergeState(tx, entry, "abandoned", context.now);
  const waited = await endMergeWaits(tx, entry, context.now);
  const owner = await ownerOfBranch(tx, entry.branch);
  const addressees = [...(owner === undefined ? [] : [owner.parentName]), ...waited];
  await notify(tx, context, addressees, {
    subject: `merge cancelled: ${entry.branch}`,
    body: `${context.caller.name} took ${entry.branch} out of the merge queue. It will not land unless it is announced again.`,
    payload: JSON.stringify({ branch: entry.branch, queueId: entry.id, cancelledBy: context.caller.name }),
    type: "status",
    priority: "normal",
    runId: entry.runId,
    // Who was waiting must find something else to do.
    wake: waited,
  });
  await recordMerge(tx, context, entry, (facts) => ({ type: "merge_cancelled", data: facts }));
  if (owner !== undefined) {
    const reason = `${context.caller.name} cancelled ${entry.branch}`;
    await giveUpUnlanded(tx, context, owner, { ...byCaller(context.caller, entry.runId), reason });
    await releaseIfDue(tx, context, owner);
  }
  return { ...entry, ...change };
}
