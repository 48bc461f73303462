import { type Agent, hasEnded, isSubmitted, newestPerName } from "../../../domain/agent/agent.ts";
import { engineCaller } from "../../../domain/caller/caller.ts";
import {
  bringsTarget,
  type CauseDetail,
  type MergeCause,
  type MergeEntry,
  mergeStatuses,
  openMergeStatuses,
  type ResolutionTier,
  type Verdict,
} from "../../../domain/merge/entry.ts";
import { blockedMail, failedMail, landedMail } from "../../../domain/merge/outcome-mail.ts";
import type { Task } from "../../../domain/task/task.ts";
import type { Tx } from "../../../ports/store.ts";
import { isAnyLanding } from "../../agents/held-agents.ts";
import { release, releaseIfDue } from "../../agents/release-agent.ts";
import { reopenAgent } from "../../agents/reopen-agent.ts";
import { isAnyAtWorkBelow } from "../../agents/turns-ahead.ts";
import { nearestLiveAncestor } from "../../mail/hand-on.ts";
import { keepGoing } from "../../runs/keep-going.ts";
import { closeAndFollow } from "../../tasks/close-task.ts";
import { readyByOwner } from "../../tasks/task-detail.ts";
import type { Context } from "../../usecase.ts";
import { ownerOfBranch, setMergeState, taskOf } from "../branch-owner.ts";
import { isOfTarget } from "../landing/landing-target.ts";
import { recordMerge } from "../merge-records.ts";
import { notify } from "../notify.ts";
import { endMergeWaits, type MergeQuestions, mergeQuestions } from "./approval.ts";

interface Landed {
  readonly entry: MergeEntry;
  readonly tier: ResolutionTier;
  readonly strategy: string | null;
  readonly verdict: Verdict;
  /** The commit by which it became part of the landing branch. */
  readonly commit: string;
}

/**
 * Without an operation: it was part of the branch before.
 *
 * Everything that follows from branches having become visible, in the transaction that records it: their tasks are over,
 * those concerned are told, and the owners of the branches may go. What was recorded before is left alone, whatever else
 * happened to the entry meanwhile: git is believed. Answers the numbers that landed by this call.
 */
export async function landed(
  tx: Tx,
  context: Context,
  landing: { readonly opId: string | null; readonly entries: readonly Landed[] },
): Promise<readonly number[]> {
  const done: number[] = [];
  const branches: MergeEntry[] = [];
  for (const { entry } of landing.entries) if (!(await isOfTarget(tx, entry))) branches.push(entry);
  const questions = await mergeQuestions(tx);
  for (const one of landing.entries) {
    const stored = await tx.merges.get(one.entry.id);
    if (stored === undefined || stored.status === "merged") continue;
    const others = branches.filter(({ id }) => id !== stored.id).map(({ branch }) => branch);
    const stays = !branches.includes(one.entry);
    await settle(tx, context, { ...one, entry: stored }, { opId: landing.opId, others, stays, questions });
    done.push(stored.id);
  }
  for (const runId of new Set(landing.entries.map(({ entry }) => entry.runId))) await keepGoing(tx, context, runId);
  return done;
}

interface LandedWith {
  readonly opId: string | null;
  /** The other branches of the same landing. */
  readonly others: readonly string[];
  /** The entry brought the target's own commits. */
  readonly stays: boolean;
  readonly questions: MergeQuestions;
}

async function settle(tx: Tx, context: Context, one: Landed, along: LandedWith): Promise<void> {
  const { opId, others, stays, questions } = along;
  const { entry, tier, strategy, verdict, commit } = one;
  await tx.merges.change(entry.id, mergeStatuses, {
    status: "merged",
    tier,
    strategy,
    verdict,
    resultCommit: commit,
    cause: null,
    causeDetail: null,
    updatedAt: context.now,
  });
  const waited = await endMergeWaits(tx, entry, context.now, questions);
  const ready = await closeTaskOf(tx, context, one);
  const owner = await ownerOfBranch(tx, entry.branch);
  const forOwner = await readyByOwner(tx, ready, owner?.parentName ?? "operator");
  const own = owner === undefined ? ["operator"] : [owner.name, owner.parentName];
  const concerned = [...(isOwnErrand(entry) ? [] : own), ...waited];
  const terms = { type: "merged", priority: "normal", runId: entry.runId } as const;
  for (const [name, ids] of forOwner) {
    const mail = landedMail({ ...one, opId, others, ready: ids, stays, mayUndo: name === "operator" });
    await notify(tx, context, [name], { ...mail, ...terms, wake: [name] });
  }
  // The parent of an agent that has ended reads for it, and may have been told above.
  const isToldAbove = (name: string): boolean =>
    forOwner.has(name) || (name === owner?.name && hasEnded(owner) && forOwner.has(owner.parentName));
  const informed = concerned.filter((name) => !isToldAbove(name));
  // A parent that waits for others of its own as well is woken by the last of them.
  const quiet = owner === undefined || (await isLastBelow(tx, owner)) ? [] : [owner.parentName];
  const wake = waited.filter((name) => !quiet.includes(name));
  const mail = landedMail({ ...one, opId, others, ready: [], stays, mayUndo: informed.includes("operator") });
  await notify(tx, context, informed, { ...mail, ...terms, wake, quiet });
  const landing = { commit, tier, strategy, verdict, opId };
  await recordMerge(tx, context, entry, (facts) => ({ type: "merge_landed", data: { ...facts, ...landing } }));
  if (owner !== undefined && hasEnded(owner)) await release(tx, context, owner, `${entry.branch} has landed`);
}

/**
 * The engine takes the target's commits in by itself, before work begins or lands. No agent asked for it, so none gets
 * mail about it; `ov status` says what could not be taken in.
 */
const isOwnErrand = (entry: MergeEntry): boolean => bringsTarget(entry) && entry.enqueuedBy === engineCaller.name;

/**
 * Is this branch the last one below its parent, with no sibling at work or on its way? Then the parent has something to
 * decide.
 */
async function isLastBelow(tx: Tx, { name, parentName, runId }: Agent): Promise<boolean> {
  if (await isAnyAtWorkBelow(tx, parentName, [name])) return false;
  const siblings = newestPerName(await tx.agents.list({ parentName, runId }));
  return !(await isAnyLanding(
    tx,
    siblings.filter((sibling) => sibling.name !== name),
  ));
}

/** Answers what can be started now because of it. A task with another branch on its way is not over. */
async function closeTaskOf(tx: Tx, context: Context, { entry, commit }: Landed): Promise<readonly Task[]> {
  const task = await taskOf(tx, entry);
  if (task === undefined) return [];
  const others = await tx.merges.list({ taskId: task.id, statuses: openMergeStatuses });
  if (!context.settings.merge.closeTask || task.status === "closed" || others.length > 0) {
    if (others.length === 0) await setMergeState(tx, entry, "merged", context.now);
    return [];
  }
  const reason = `landed on ${entry.targetBranch} as ${commit.slice(0, 10)}`;
  const { ready } = await closeAndFollow(tx, context, { ...task, mergeState: "merged" }, reason);
  return ready;
}

/**
 * The agent from this one upwards that can still act. A lead whose completion was accepted cannot, although its last turn
 * may still run.
 */
async function parentToAct(tx: Tx, name: string): Promise<string> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent)) return name;
  const isAccepted = (await tx.checks.completionsOf(agent.id)).some(({ status }) => status === "done");
  return isAccepted ? parentToAct(tx, agent.parentName) : name;
}

interface Rejection {
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
 * A branch that cannot land as it is: its agent is brought back to work with the cause; its parent and the agents that
 * waited for it are told. The parent is woken only where the agent does not come back. Undefined, and nothing happens,
 * when the entry had ended before.
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
  const parent = owner === undefined ? entry.enqueuedBy : await parentToAct(tx, owner.parentName);
  const above = owner === undefined ? parent : await nearestLiveAncestor(tx, parent);
  const others = owner === undefined ? [parent] : [owner.name, parent, ...(isBack ? [] : [above])];
  const addressees = [...(isOwnErrand(entry) ? [] : others), ...waited];
  const about = owner === undefined ? null : { name: owner.name, above, isBack };
  const mail = failedMail({ entry, cause, detail, owner: about });
  // One of them acts. It asks nothing of the others, who get it with their next turn.
  const acting = owner === undefined ? waited : [isBack ? owner.name : above];
  const quiet = owner === undefined ? [] : addressees.filter((name) => !acting.includes(name));
  const terms = { type: "merge_failed", priority: "high", runId: entry.runId } as const;
  await notify(tx, context, addressees, { ...mail, ...terms, wake: acting, quiet });
  const { message, files = [], gate = null } = detail;
  await recordMerge(tx, context, entry, (facts) => ({
    type: "merge_failed",
    level: "warn",
    data: { ...facts, cause, message, files, gate, reopened: isBack },
  }));
  if (owner !== undefined && !isBack) await releaseIfDue(tx, context, owner);
  await keepGoing(tx, context, entry.runId);
  return { agentName: owner?.name ?? null, isBack };
}

/** Brings an ended agent back to work. True when the agent will read what went wrong. */
async function callBack(tx: Tx, context: Context, owner: Agent): Promise<boolean> {
  if (!hasEnded(owner)) return true;
  // A stopped agent works again only when the party that stopped it says so.
  return isSubmitted(owner) && owner.outcome !== "stopped" && (await reopenAgent(tx, context, owner)).ok;
}

interface Block {
  readonly cause: MergeCause;
  readonly detail: CauseDetail;
  /** When it is tried again by itself. */
  readonly notBefore: number;
}

/**
 * Something outside is in the way of a branch: no agent is sent back to work, it is tried again. The operator learns of
 * it once, not with every try, and not for every branch that meets the same.
 */
export async function blocked(tx: Tx, context: Context, entry: MergeEntry, block: Block): Promise<void> {
  const { cause, detail, notBefore } = block;
  const before = await tx.merges.get(entry.id);
  const others = await tx.merges.list({ statuses: ["blocked"] });
  const change = { status: "blocked", cause, causeDetail: detail, notBefore, updatedAt: context.now } as const;
  if (!(await tx.merges.change(entry.id, openMergeStatuses, change))) return;
  const isSame = (other: MergeEntry | undefined): boolean =>
    other?.targetBranch === entry.targetBranch && other.causeDetail?.message === detail.message;
  if (isSame(before)) return;
  await recordMerge(tx, context, entry, (facts) => ({
    type: "merge_blocked",
    level: "warn",
    data: { ...facts, cause, message: detail.message },
  }));
  if (others.some(isSame)) return;
  const mail = blockedMail({ entry, cause, detail });
  await notify(tx, context, ["operator"], { ...mail, type: "status", priority: "high", runId: entry.runId });
}
