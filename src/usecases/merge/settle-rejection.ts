import { type Agent, hasEnded, isSubmitted } from "../../domain/agent/agent.ts";
import { type CauseDetail, type MergeCause, type MergeEntry, openMergeStatuses } from "../../domain/merge/entry.ts";
import { failedMail } from "../../domain/merge/outcome-mail.ts";
import type { Tx } from "../../ports/store.ts";
import { releaseIfDue } from "../agents/release-agent.ts";
import { reopenAgent } from "../agents/reopen-agent.ts";
import type { Context } from "../usecase.ts";
import { endMergeWaits } from "./approval-wait.ts";
import { ownerOfBranch } from "./branch-owner.ts";
import { notify } from "./notify.ts";
import { recordMerge } from "./record-merge.ts";
import { setMergeState } from "./task-state.ts";

export interface Rejection {
  readonly status: "failed" | "conflict";
  readonly cause: MergeCause;
  readonly detail: CauseDetail;
  readonly approval?: "denied";
}

/** The agent of the branch, if any, and whether it works on. */
export interface Rejected {
  readonly agentName: string | null;
  readonly isBack: boolean;
}

/**
 * A branch that cannot land as it is: its agent is brought back to work with the cause, its parent and whoever waited for
 * it are told. Undefined, and nothing happens, when the entry had ended before.
 */
export async function rejected(
  tx: Tx,
  context: Context,
  entry: MergeEntry,
  rejection: Rejection,
): Promise<Rejected | undefined> {
  const { status, cause, detail, approval } = rejection;
  const change = { status, cause, causeDetail: detail, updatedAt: context.now };
  const ended = await tx.merges.change(
    entry.id,
    openMergeStatuses,
    approval === undefined ? change : { ...change, approval },
  );
  if (!ended) return undefined;
  await setMergeState(tx, entry, "failed", context.now);
  const waited = await endMergeWaits(tx, entry, context.now);
  const owner = await ownerOfBranch(tx, entry.branch);
  const isBack = owner !== undefined && (await callBack(tx, context, owner));
  const addressees = [...(owner === undefined ? [entry.enqueuedBy] : [owner.name, owner.parentName]), ...waited];
  const mail = failedMail({ entry, cause, detail });
  const wake = owner === undefined ? waited : [...waited, owner.name];
  await notify(tx, context, addressees, { ...mail, type: "merge_failed", priority: "high", runId: entry.runId, wake });
  const { message, files = [], gate = null } = detail;
  await recordMerge(tx, context, entry, (facts) => ({
    type: "merge_failed",
    level: "warn",
    data: { ...facts, cause, message, files, gate, reopened: isBack },
  }));
  if (owner !== undefined && !isBack) await releaseIfDue(tx, context, owner);
  return { agentName: owner?.name ?? null, isBack };
}

/** True when somebody of this name will read what went wrong. */
async function callBack(tx: Tx, context: Context, owner: Agent): Promise<boolean> {
  if (!hasEnded(owner)) return true;
  return isSubmitted(owner) && (await reopenAgent(tx, context, owner)).ok;
}
