import {
  type Approval,
  approvalFor,
  isOpenMerge,
  type MergeEntry,
  type MergeStatus,
  openMergeStatuses,
  strongerApproval,
  waitingReason,
} from "../../../domain/merge/entry.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { fields, flag, list, text, whole } from "../../../domain/schema/schema.ts";
import type { Tx } from "../../../ports/store.ts";
import { giveUpUnlanded, releaseIfDue } from "../../agents/release-agent.ts";
import { byCaller } from "../../events/record.ts";
import { keepGoing } from "../../runs/keep-going.ts";
import type { Context, UseCase } from "../../usecase.ts";
import { forbiddenToQueue, ownerOfBranch, setMergeState, withVerdict } from "../branch-owner.ts";
import { findEntry, isLanding, landingBusy, recordMerge, replacedBy, wrongStatus } from "../merge-records.ts";
import { notify } from "../notify.ts";
import { answerDoubt, askForApproval, endApprovalWait, endMergeWaits, factsOf, mergeQuestions } from "./approval.ts";
import { waitFor } from "./enqueue.ts";
import { type Rejected, rejected } from "./settle-entry.ts";

export interface ApproveRequest {
  /** Number or branch. */
  readonly of?: string | undefined;
  /** Everything that is open. */
  readonly all?: boolean | undefined;
  /** With `all`: only these of the open entries, because the others were announced after the caller looked. */
  readonly numbers?: readonly number[] | undefined;
  /** Land even if the entries it depends on have not landed. */
  readonly ignoreDependencies?: boolean | undefined;
  /** Only returns the entries that would be approved; writes nothing. */
  readonly look?: boolean | undefined;
}

/** The operator's word that branches may land. */
export const approveMerge: UseCase<ApproveRequest, { readonly approved: readonly MergeEntry[] }> = {
  kind: "write",
  request: fields({}, { of: text, all: flag, numbers: list(whole), ignoreDependencies: flag, look: flag }),
  operatorOnly: true,
  run: async (tx, context, { of, all, numbers, ignoreDependencies, look }) => {
    if (all === true) {
      const listed = await tx.merges.list({ statuses: openMergeStatuses });
      const open = numbers === undefined ? listed : listed.filter(({ id }) => numbers.includes(id));
      if (look === true) return ok({ approved: open });
      return ok({ approved: await approveEach(tx, context, open, {}) });
    }
    if (of === undefined) return no(invalid("merge", "must be a number, a branch or --all"));
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    const refused = isOpenMerge(found.value) ? undefined : wrongStatus(found.value, openMergeStatuses);
    if (refused !== undefined) return no(refused);
    if (look === true) return ok({ approved: [found.value] });
    await answerDoubt(tx, found.value);
    const change = ignoreDependencies === true ? { dependsOn: [] } : {};
    return ok({ approved: await approveEach(tx, context, [found.value], change) });
  },
};

async function approveEach(
  tx: Tx,
  context: Context,
  entries: readonly MergeEntry[],
  more: Partial<Pick<MergeEntry, "dependsOn">>,
): Promise<readonly MergeEntry[]> {
  const approved: MergeEntry[] = [];
  const questions = await mergeQuestions(tx);
  for (const entry of entries) {
    const change = { approval: "operator", updatedAt: context.now, ...more } as const;
    approved.push({ ...entry, ...change });
    if (entry.approval === "operator" && more.dependsOn === undefined) continue;
    await tx.merges.change(entry.id, openMergeStatuses, change);
    await endApprovalWait(tx, entry, context.now, questions);
    await recordMerge(tx, context, { ...entry, ...change }, (facts) => ({ type: "merge_approved", data: facts }));
  }
  return approved;
}

/** Puts the commit of a branch on record that was queued without one. A commit that is on record stays. */
export const recordHead: UseCase<Pick<MergeEntry, "id" | "headCommit">, { readonly entry: MergeEntry }> = {
  kind: "write",
  request: fields({ id: whole, headCommit: text }),
  operatorOnly: true,
  run: async (tx, { now }, { id, headCommit }) => {
    const found = await findEntry(tx, String(id));
    if (!found.ok || found.value.headCommit !== "") return found.ok ? ok({ entry: found.value }) : found;
    const change = { headCommit, updatedAt: now };
    await tx.merges.change(id, openMergeStatuses, change);
    return ok({ entry: { ...found.value, ...change } });
  },
};

export interface RejectRequest {
  readonly of: string;
  readonly reason: string;
}

/** The operator's word that a branch may not land as it is: its agent goes back to work with the reason. */
export const rejectMerge: UseCase<RejectRequest, { readonly entry: MergeEntry } & Rejected> = {
  kind: "write",
  request: fields({ of: text, reason: text }),
  operatorOnly: true,
  run: async (tx, context, { of, reason }) => {
    if (reason.trim() === "") return no(invalid("reason", "must say what is wrong"));
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    const entry = found.value;
    const refused = wrongStatus(entry, openMergeStatuses);
    if (refused !== undefined) return no(refused);
    if (await isLanding(tx, entry)) return no(landingBusy(entry));
    const sent = await rejected(tx, context, entry, {
      status: "failed",
      cause: "approval_denied",
      detail: { message: reason.trim() },
      approval: "denied",
    });
    const now = (await tx.merges.get(entry.id)) ?? entry;
    return ok({ entry: await withVerdict(tx, now), agentName: sent?.agentName ?? null, isBack: sent?.isBack ?? false });
  },
};

/**
 * Takes a branch out of the queue. The branch stays as it is, its agent is not sent back to work and may go, and its
 * task is ready again.
 */
export const cancelMerge: UseCase<{ readonly of: string }, { readonly entry: MergeEntry }> = {
  kind: "write",
  request: fields({ of: text }),
  operatorOnly: true,
  run: async (tx, context, { of }) => {
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    const entry = found.value;
    const refused = wrongStatus(entry, cancellable);
    if (refused !== undefined) return no(refused);
    if (await isLanding(tx, entry)) return no(landingBusy(entry));
    return ok({ entry: await withVerdict(tx, await cancel(tx, context, entry)) });
  },
};

/** What failed may be given up too. */
const cancellable: readonly MergeStatus[] = [...openMergeStatuses, "conflict", "failed"];

/** Takes an entry out of the queue. Returns the names of the agents that waited for it; its caller tells them. */
export async function withdraw(tx: Tx, context: Context, entry: MergeEntry): Promise<readonly string[]> {
  await tx.merges.change(entry.id, cancellable, { status: "cancelled", updatedAt: context.now });
  await setMergeState(tx, entry, "abandoned", context.now);
  const waited = await endMergeWaits(tx, entry, context.now);
  await recordMerge(tx, context, entry, (facts) => ({ type: "merge_cancelled", data: facts }));
  return waited;
}

async function cancel(tx: Tx, context: Context, entry: MergeEntry): Promise<MergeEntry> {
  const waited = await withdraw(tx, context, entry);
  const owner = await ownerOfBranch(tx, entry.branch);
  const addressees = [...(owner === undefined ? [] : [owner.parentName]), ...waited];
  await notify(tx, context, addressees, {
    subject: `merge cancelled: ${entry.branch}`,
    body: `${context.caller.name} took ${entry.branch} out of the merge queue. It will not land unless it is announced again.`,
    payload: JSON.stringify({ branch: entry.branch, queueId: entry.id, cancelledBy: context.caller.name }),
    type: "status",
    priority: "normal",
    runId: entry.runId,
    // Agents that waited for the merge must find something else to do.
    wake: waited,
  });
  if (owner !== undefined) {
    const reason = `${context.caller.name} cancelled ${entry.branch}`;
    await giveUpUnlanded(tx, context, owner, { ...byCaller(context.caller, entry.runId), reason });
    await releaseIfDue(tx, context, owner);
  }
  await keepGoing(tx, context, entry.runId);
  return { ...entry, status: "cancelled", updatedAt: context.now };
}

type Reply = { readonly entry: MergeEntry };

/** Tries again what did not land, with the same commit. */
export const retryMerge: UseCase<{ readonly of: string }, Reply> = {
  kind: "write",
  request: fields({ of: text }),
  run: (tx, context, { of }) => takeUp(tx, context, of, "retry", ["failed", "conflict", "blocked", "cancelled"]),
};

/** Looks at once whether the obstacle of a blocked branch is gone. */
export const resumeMerge: UseCase<{ readonly of: string }, Reply> = {
  kind: "write",
  request: fields({ of: text }),
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
  return ok({ entry: await withVerdict(tx, await queueAgain(tx, context, entry, from)) });
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
