import { hasEnded } from "../../domain/agent/agent.ts";
import {
  type MergeEntry,
  mergeStatuses,
  openMergeStatuses,
  type ResolutionTier,
  type Verdict,
} from "../../domain/merge/entry.ts";
import { landedMail } from "../../domain/merge/outcome-mail.ts";
import type { Tx } from "../../ports/store.ts";
import { release } from "../agents/release-agent.ts";
import { closeAndFollow } from "../tasks/close-task.ts";
import type { Context } from "../usecase.ts";
import { endMergeWaits } from "./approval-wait.ts";
import { ownerOfBranch } from "./branch-owner.ts";
import { isOfTarget } from "./find-undo.ts";
import { notify } from "./notify.ts";
import { recordMerge } from "./record-merge.ts";
import { setMergeState, taskOf } from "./task-state.ts";

export interface Landed {
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
  for (const one of landing.entries) {
    const stored = await tx.merges.get(one.entry.id);
    if (stored === undefined || stored.status === "merged") continue;
    const others = branches.filter(({ id }) => id !== stored.id).map(({ branch }) => branch);
    await settle(tx, context, { ...one, entry: stored }, { opId: landing.opId, others });
    done.push(stored.id);
  }
  return done;
}

interface LandedWith {
  readonly opId: string | null;
  /** The other branches of the same landing. */
  readonly others: readonly string[];
}

async function settle(tx: Tx, context: Context, one: Landed, { opId, others }: LandedWith): Promise<void> {
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
  const waited = await endMergeWaits(tx, entry, context.now);
  const ready = await closeTaskOf(tx, context, one);
  const owner = await ownerOfBranch(tx, entry.branch);
  const coordinator = entry.runId === null ? null : ((await tx.runs.get(entry.runId))?.coordinatorName ?? null);
  const addressees = [
    ...(owner === undefined ? ["operator"] : [owner.name, owner.parentName]),
    ...(coordinator === null ? [] : [coordinator]),
    ...waited,
  ];
  const mail = landedMail({ ...one, opId, others, ready, stays: await isOfTarget(tx, entry) });
  const wake = coordinator === null || ready.length === 0 ? waited : [...waited, coordinator];
  await notify(tx, context, addressees, { ...mail, type: "merged", priority: "normal", runId: entry.runId, wake });
  const landing = { commit, tier, strategy, verdict, opId };
  await recordMerge(tx, context, entry, (facts) => ({ type: "merge_landed", data: { ...facts, ...landing } }));
  if (owner !== undefined && hasEnded(owner)) await release(tx, context, owner, `${entry.branch} has landed`);
}

/** Answers what can be started now because of it. A task with another branch on its way is not over. */
async function closeTaskOf(tx: Tx, context: Context, { entry, commit }: Landed): Promise<readonly string[]> {
  const task = await taskOf(tx, entry);
  if (task === undefined) return [];
  const others = await tx.merges.list({ taskId: task.id, statuses: openMergeStatuses });
  if (!context.settings.merge.closeTask || task.status === "closed" || others.length > 0) {
    if (others.length === 0) await setMergeState(tx, entry, "merged", context.now);
    return [];
  }
  const reason = `landed on ${entry.targetBranch} as ${commit.slice(0, 10)}`;
  const { ready } = await closeAndFollow(tx, context, { ...task, mergeState: "merged" }, reason);
  return ready.map(({ id }) => id);
}
