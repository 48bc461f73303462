import {
  type Asker,
  approvalFor,
  isOpenMerge,
  type MergeEntry,
  mergeRef,
  openMergeStatuses,
  strongerApproval,
  waitingReason,
} from "../../../domain/merge/entry.ts";
import type { Tx } from "../../../ports/store.ts";
import type { Context } from "../../usecase.ts";
import { setMergeState } from "../branch-owner.ts";
import { recordMerge } from "../merge-records.ts";
import { askForApproval, endApprovalWait, endMergeWaits, factsOf } from "./approval.ts";

/** Where `headCommit` is empty, the merge worker reads the tip of the branch. */
export interface NewMerge
  extends Pick<
    MergeEntry,
    "branch" | "headCommit" | "targetBranch" | "taskId" | "agentName" | "runId" | "filesModified" | "source"
  > {
  /** Default: the priority of its task. */
  readonly priority?: number | undefined;
  /** Entries that must land first, besides those of the tasks it depends on. */
  readonly after?: readonly number[];
  readonly enqueuedBy: string;
  readonly asker: Asker;
  /** An agent that has nothing to do until the outcome is known. */
  readonly waiter?: string | null;
}

interface Enqueued {
  readonly entry: MergeEntry;
  /** False: the same commit had its place already. */
  readonly added: boolean;
}

/**
 * Gives a branch its place in the queue, in the caller's transaction. A newer head takes the place of the older one; the
 * same head keeps the place it has, and an approval can only be added to it.
 */
export async function enqueueBranch(tx: Tx, context: Context, request: NewMerge): Promise<Enqueued> {
  const { branch, targetBranch, headCommit } = request;
  const open = await tx.merges.openOf(branch, targetBranch);
  if (open?.headCommit === headCommit) return { entry: await approveFurther(tx, context, open, request), added: false };
  const waiters = open === undefined ? [] : await supersede(tx, context, open);
  const entry = await add(tx, context, request);
  await redirectDependents(tx, entry, context.now);
  await setMergeState(tx, entry, "queued", context.now);
  if (request.waiter != null) waiters.push(request.waiter);
  for (const agentName of waiters) await waitFor(tx, agentName, entry, context.now);
  const { dependsOn } = entry;
  await recordMerge(tx, context, entry, (facts) => ({ type: "merge_queued", data: { ...facts, dependsOn } }));
  if (entry.approval === "waiting") await askForApproval(tx, context, entry, waitingReason(factsOf(context, request)));
  return { entry, added: true };
}

/** Why there is nothing to queue: this commit of the branch has landed and was not taken back. */
export async function whyLanded(
  tx: Tx,
  { branch, targetBranch, headCommit }: Pick<NewMerge, "branch" | "targetBranch" | "headCommit">,
): Promise<string | undefined> {
  const entries = (await tx.merges.list({ branch })).filter((entry) => entry.targetBranch === targetBranch);
  const landed = entries.find((entry) => entry.status === "merged" && entry.headCommit === headCommit);
  if (landed === undefined || entries.some(isOpenMerge)) return undefined;
  return `has landed already at ${headCommit.slice(0, 12)} as merge ${landed.id}; nothing was sent or queued`;
}

/** An agent that is idle on purpose until the entry has ended. */
export const waitFor = (tx: Tx, agentName: string, { id }: MergeEntry, since: number): Promise<void> =>
  tx.waits.add({ agentName, kind: "merge", ref: mergeRef(id), since, deadline: null });

async function approveFurther(tx: Tx, context: Context, known: MergeEntry, request: NewMerge): Promise<MergeEntry> {
  const open = await landAfter(tx, context, known, request);
  const approval = strongerApproval(open.approval, approvalFor(factsOf(context, request)));
  if (request.waiter != null) await waitFor(tx, request.waiter, open, context.now);
  if (approval === open.approval) return open;
  await tx.merges.change(open.id, openMergeStatuses, { approval, updatedAt: context.now });
  await endApprovalWait(tx, open, context.now);
  const entry = { ...open, approval, updatedAt: context.now };
  await recordMerge(tx, context, entry, (facts) => ({ type: "merge_approved", data: facts }));
  return entry;
}

async function landAfter(tx: Tx, { now }: Context, open: MergeEntry, { after = [] }: NewMerge): Promise<MergeEntry> {
  const dependsOn = [...new Set([...open.dependsOn, ...after])];
  if (dependsOn.length === open.dependsOn.length) return open;
  await tx.merges.change(open.id, openMergeStatuses, { dependsOn, updatedAt: now });
  return { ...open, dependsOn, updatedAt: now };
}

/** Returns the agents that waited for the older head; they wait for the newer one now. */
async function supersede(tx: Tx, context: Context, open: MergeEntry): Promise<string[]> {
  await tx.merges.change(open.id, openMergeStatuses, { status: "superseded", updatedAt: context.now });
  await recordMerge(tx, context, open, (facts) => ({ type: "merge_superseded", data: facts }));
  return [...(await endMergeWaits(tx, open, context.now))];
}

async function add(tx: Tx, context: Context, request: NewMerge): Promise<MergeEntry> {
  const entry = await freshEntry(tx, context, request);
  return { ...entry, id: await tx.merges.insert(entry) };
}

/** What would be stored for a branch that has no place yet. */
export async function freshEntry(tx: Tx, context: Context, request: NewMerge): Promise<Omit<MergeEntry, "id">> {
  const { taskId, targetBranch, after = [] } = request;
  const task = taskId === null ? undefined : await tx.tasks.get(taskId);
  return {
    branch: request.branch,
    headCommit: request.headCommit,
    targetBranch,
    taskId,
    agentName: request.agentName,
    runId: request.runId,
    filesModified: request.filesModified,
    dependsOn: [...new Set([...(await dependenciesOf(tx, taskId, targetBranch)), ...after])],
    priority: request.priority ?? task?.priority ?? ordinary,
    source: request.source,
    enqueuedBy: request.enqueuedBy,
    enqueuedAt: context.now,
    status: "pending",
    approval: approvalFor(factsOf(context, request)),
    tier: null,
    strategy: null,
    verdict: null,
    attempts: 0,
    notBefore: 0,
    resultCommit: null,
    cause: null,
    causeDetail: null,
    updatedAt: context.now,
  };
}

const ordinary = 2;

/**
 * The entries that must land before one for this task: those of the tasks it depends on; where such a task has none, of
 * the tasks that one depends on.
 */
async function dependenciesOf(tx: Tx, taskId: string | null, targetBranch: string): Promise<readonly number[]> {
  if (taskId === null) return [];
  const found = new Set<number>();
  const seen = new Set([taskId]);
  const rest = [taskId];
  for (let task = rest.pop(); task !== undefined; task = rest.pop()) {
    for (const { dependsOn } of await tx.tasks.dependenciesOf(task)) {
      if (seen.has(dependsOn)) continue;
      seen.add(dependsOn);
      const entries = (await tx.merges.list({ taskId: dependsOn })).filter(counts);
      const here = entries.filter((entry) => entry.targetBranch === targetBranch);
      if (here.length === 0) rest.push(dependsOn);
      for (const { id } of here) found.add(id);
    }
  }
  return [...found].toSorted((a, b) => a - b);
}

const counts = (entry: MergeEntry): boolean => isOpenMerge(entry) || entry.status === "merged";

/**
 * Entries that depend on an earlier entry of this branch depend on this one now: the earlier one will never land. The same
 * for another branch that brought the same task, and has ended without landing or was taken out again.
 */
async function redirectDependents(tx: Tx, entry: MergeEntry, now: number): Promise<void> {
  const { id, branch, taskId, targetBranch } = entry;
  const ofTask = taskId === null ? [] : (await tx.merges.list({ taskId })).filter((other) => !isOpenMerge(other));
  const earlier = [...(await tx.merges.list({ branch })), ...ofTask];
  const replaced = new Set(
    earlier
      .filter((other) => other.id < id && other.targetBranch === targetBranch && other.status !== "merged")
      .map((other) => other.id),
  );
  if (replaced.size === 0) return;
  for (const other of await tx.merges.list({ statuses: openMergeStatuses })) {
    if (!other.dependsOn.some((dependency) => replaced.has(dependency))) continue;
    const dependsOn = [...new Set(other.dependsOn.map((dependency) => (replaced.has(dependency) ? id : dependency)))];
    await tx.merges.change(other.id, openMergeStatuses, { dependsOn, updatedAt: now });
  }
}

/**
 * Lets an entry that the merge worker has not begun land on another branch. Where its branch has a place there already,
 * the newer of the two takes it. An approval of the older one counts for the same commit only. Undefined when this is
 * the older one.
 */
export async function moveEntry(
  tx: Tx,
  context: Context,
  entry: MergeEntry,
  targetBranch: string,
): Promise<MergeEntry | undefined> {
  const there = await tx.merges.openOf(entry.branch, targetBranch);
  if (there === undefined) {
    const change = { targetBranch, updatedAt: context.now };
    return (await tx.merges.change(entry.id, idle, change)) ? { ...entry, ...change } : undefined;
  }
  const [older, newer] = there.id < entry.id ? [there, entry] : [entry, there];
  const waiters = await supersede(tx, context, older);
  const isSame = newer.headCommit === older.headCommit && newer.headCommit !== "";
  const approval = isSame ? strongerApproval(newer.approval, older.approval) : newer.approval;
  const moved = { ...newer, approval, targetBranch, updatedAt: context.now };
  await tx.merges.change(newer.id, idle, { approval, targetBranch, updatedAt: context.now });
  if (approval !== "waiting") await endApprovalWait(tx, newer, context.now);
  await redirectDependents(tx, moved, context.now);
  for (const agentName of waiters) await waitFor(tx, agentName, moved, context.now);
  return newer === entry ? moved : undefined;
}

const idle = ["pending", "blocked"] as const;
