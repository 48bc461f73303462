import type { MergeAttempt } from "../../domain/merge/attempt.ts";
import {
  awaitsApproval,
  type MergeEntry,
  type MergeStatus,
  type ResolutionTier,
  verdictOf,
} from "../../domain/merge/entry.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import type { QueuePause } from "../../domain/merge/queue-pause.ts";
import type { Promotion } from "../../domain/merge/words.ts";
import type { LostLanding } from "../../usecases/merge/landing/lost-landings.ts";
import type { Undoable } from "../../usecases/merge/landing/request-undo.ts";
import type { PredictedEntry, QueuePlan } from "../../usecases/merge/plan-queue.ts";
import type { MergePreview } from "../../usecases/merge/queue/add-entry.ts";
import type { BlockedMerge } from "../../usecases/merge/queue/queue-state.ts";
import type { WatchedMerge } from "../../usecases/merge/queue/read-queue.ts";
import type { CollisionAhead, RadarReply } from "../../usecases/merge/radar.ts";
import type { MergeDetail, MergeOutcome, QueuedMerge } from "../../usecases/merge/read-merges.ts";
import type { ShownState } from "../../usecases/merge/read-state.ts";
import type { ShownConflicts } from "../../usecases/merge/show-conflicts.ts";
import { olderBranchKeys, olderEntryKeys } from "../older-keys.ts";
import { iso, isoUnlessZero } from "../values.ts";
import { gateResultView, receiptView } from "./gate.ts";

/** An entry of the merge queue; its number is null while it is only a preview. */
export const entryView = (entry: MergePreview) => ({
  id: entry.id,
  branch: entry.branch,
  headCommit: entry.headCommit,
  targetBranch: entry.targetBranch,
  taskId: entry.taskId,
  agentName: entry.agentName,
  runId: entry.runId,
  filesModified: entry.filesModified,
  dependsOn: entry.dependsOn,
  priority: entry.priority,
  source: entry.source,
  enqueuedBy: entry.enqueuedBy,
  enqueuedAt: iso(entry.enqueuedAt),
  status: entry.status,
  approval: entry.approval,
  awaitingApproval: awaitsApproval(entry),
  tier: entry.tier,
  strategy: entry.strategy,
  verdict: verdictOf(entry),
  attempts: entry.attempts,
  notBefore: isoUnlessZero(entry.notBefore),
  resultCommit: entry.resultCommit,
  cause: entry.cause,
  causeDetail: entry.causeDetail,
  updatedAt: iso(entry.updatedAt),
  ...olderEntryKeys(entry),
});

/** An entry with its place in the queue. */
export const queuedEntryView = ({ entry, waitsFor, place }: QueuedMerge) => ({ ...entryView(entry), waitsFor, place });

/** An entry as a person watches it: how it stands, and what can be done with it. */
export const watchedEntryView = ({ title, standing, isBack, rank, ...queued }: WatchedMerge) => ({
  ...queuedEntryView(queued),
  title,
  ...standing,
  isBack,
  rank,
});

/** An entry that cannot land now, with the reason. */
export const waitingEntryView = ({ view, why }: { readonly view: QueuedMerge; readonly why: string }) => ({
  ...entryView(view.entry),
  waitsFor: view.waitsFor,
  why,
});

/** What adding a branch to the queue answers. */
export const addedEntryView = ({ entry, added }: { readonly entry: MergeEntry; readonly added: boolean }) => ({
  entry: entryView(entry),
  added,
  // The tool `merge` has always named these without the entry around them.
  id: entry.id,
  branch: entry.branch,
  status: entry.status,
  approval: entry.approval,
});

/** An entry with what the merge worker would make of it now. */
export const predictedEntryView = ({ entry, prediction }: PredictedEntry) => ({
  ...entryView(entry),
  prediction,
  // The tool `merge_preview` has always named these without the prediction around them.
  target: entry.targetBranch,
  predictedTier: prediction.predictedTier,
  conflictFiles: prediction.conflictFiles,
  wouldRequireAgent: prediction.wouldRequireAgent,
  reason: prediction.reason,
  gatesLikely: prediction.gatesLikely,
});

/** What would land now, and what keeps the rest. */
export const queuePlanView = ({ predicted, waiting }: QueuePlan) => ({
  entries: predicted.map(predictedEntryView),
  waiting: waiting.map(({ merge: view, why }) => waitingEntryView({ view, why: why ?? view.entry.status })),
});

/** Everything about one entry: its attempts, the gates that looked at it, the evidence, the operations. */
export const entryDetailView = ({ attempts, gates, receipts, operations, standing, ...view }: MergeDetail) => ({
  entry: queuedEntryView(view),
  attempts: attempts.map(attemptView),
  gates: gates.map(({ on, ...result }) => ({ ...gateResultView(result), on })),
  receipts: receipts.map(receiptView),
  operations: operations.map((op) => operationView(op, [])),
  standing,
  meantFor: view.meantFor,
});

const attemptView = ({ startedAt, finishedAt, ...attempt }: Omit<MergeAttempt, "members">) => ({
  ...attempt,
  startedAt: iso(startedAt),
  finishedAt: iso(finishedAt),
});

/** What a branch changes, as a patch. */
export const entryPatchView = ({ id, branch, headCommit, targetBranch }: MergePreview, patch: string) => ({
  id,
  branch,
  headCommit,
  targetBranch,
  diff: patch,
  ...olderBranchKeys(branch),
});

/** The result of a requested merge of one branch. */
export interface MergeResult {
  readonly entry: MergeEntry;
  readonly success: boolean;
  readonly tier: ResolutionTier;
  readonly conflictFiles: readonly string[];
  readonly errorMessage: string | null;
  readonly warnings: readonly string[];
  /** The branch it is promoted to later; null where it lands there directly. */
  readonly meantFor: string | null;
  /** What `ov merge promote` must name to bring it there. */
  readonly promotion: Promotion;
}

/** `standing`: why nothing more happens to an entry that is still open. */
export function mergeResult(
  { entry, hasLanding, gaps, meantFor, promotion }: MergeOutcome,
  standing: string | undefined,
): MergeResult {
  const success = entry.status === "merged";
  return {
    entry,
    success,
    tier: entry.tier ?? (entry.cause === "conflict" ? "auto-resolve" : "clean-merge"),
    conflictFiles: entry.cause === "conflict" ? (entry.causeDetail?.files ?? []) : [],
    errorMessage: success ? null : (standing ?? entry.causeDetail?.message ?? endings[entry.status]),
    warnings: success ? [...(hasLanding ? [] : [contained(entry)]), ...gaps] : [],
    meantFor,
    promotion,
  };
}

const contained = ({ branch, targetBranch }: MergeEntry): string =>
  `${targetBranch} had everything of ${branch} already; nothing was changed`;

const endings: Readonly<Record<MergeStatus, string>> = {
  pending: "it waits in the queue",
  merging: "it is being merged",
  gating: "it is being checked",
  merged: "it has landed",
  conflict: "it conflicts with what landed before",
  failed: "it failed",
  blocked: "something is in the way; it is tried again by itself",
  cancelled: "it was taken out of the queue",
  superseded: "a newer commit of the branch took its place",
  reverted: "it landed and was taken back",
};

export const mergeResultView = ({ entry, promotion: _, ...result }: MergeResult) => ({
  entry: entryView(entry),
  ...result,
});

/** What became of several branches. */
export function mergeResultsView(results: readonly MergeResult[]) {
  const successCount = results.filter(({ success }) => success).length;
  const failCount = results.length - successCount;
  return {
    success: failCount === 0,
    results: results.map(mergeResultView),
    count: results.length,
    successCount,
    failCount,
  };
}

/** One move of a landing branch, with the branches it concerned as far as they are given. */
export function operationView(op: MergeOp, entries: readonly MergeEntry[]) {
  const { createdAt, updatedAt, seq: _, ...facts } = op;
  const concerned = entries.filter(({ id }) => op.queueIds.includes(id));
  return {
    ...facts,
    problem: op.status === "done" ? null : op.problem,
    branches: concerned.map((entry) => ({
      id: entry.id,
      branch: entry.branch,
      ...olderBranchKeys(entry.branch),
      verdict: verdictOf(entry),
    })),
    createdAt: iso(createdAt),
    updatedAt: iso(updatedAt),
  };
}

/** What an undo would take back. */
export const undoPlanView = ({ op, entries, whole, promoted, later }: Undoable) => ({
  operation: operationView(op, entries),
  entries: entries.map(entryView),
  whole,
  promoted,
  later,
});

/** Work that landed, and that its target no longer has. */
export const lostLandingView = ({ branch, opId, commit, head }: LostLanding) => ({
  branch,
  ...olderBranchKeys(branch),
  operation: opId,
  commit,
  head,
});

/** Where an entry conflicts with what has landed, with all three sides. */
export const conflictsView = ({ entry, ...shown }: ShownConflicts) => ({ ...shown, entry: entryView(entry) });

/** What lands how and where: the trains that are being checked now, and what waits for a promotion. */
export const mergeStateView = ({ trains, paused, ...state }: ShownState) => ({
  ...state,
  paused: pauseView(paused),
  trains: trains.map(({ members, checks, startedAt, ...train }) => ({
    ...train,
    startedAt: iso(startedAt),
    members: members.map(({ id, branch, agentName, status }) => ({ id, branch, agentName, status })),
    checks: checks.map(({ gates, ...check }) => ({
      ...check,
      gates: gates.map(({ startedAt: since, ...gate }) => ({ ...gate, startedAt: iso(since) })),
    })),
  })),
});

/** Which live branches would collide. */
export const radarView = ({ branches, pairs }: RadarReply) => ({
  branches: branches.map(({ branch, agentName, commit, landsOn, moved }) => ({
    branch,
    ...olderBranchKeys(branch),
    agentName,
    commit,
    landsOn,
    moved,
  })),
  pairs: pairs.map(({ a, b, outcome, files }) => ({ a, b, outcome: outcome ?? ("unknown" as const), files })),
});

/** Where the branches of a run, or of all runs, stand. */
export interface Merges {
  readonly pending: number | readonly number[];
  readonly approvals: readonly number[];
  readonly failed: readonly number[];
  readonly blocked: readonly BlockedMerge[];
  readonly troubles?: readonly string[] | undefined;
  readonly paused?: QueuePause | null | undefined;
}

/** The pause of the queue; null while the queue runs. */
export const pauseView = (pause: QueuePause | null) =>
  pause === null ? null : { by: pause.pausedBy, reason: pause.reason, since: iso(pause.since) };

export const mergesView = ({ pending, approvals, failed, blocked, troubles = [], paused = null }: Merges) => ({
  pending: typeof pending === "number" ? pending : pending.length,
  waitingForApproval: approvals,
  failed,
  blocked,
  troubles,
  paused: pauseView(paused),
});

/** Two agents whose branches will collide. */
export const collisionView = ({ since, ...collision }: CollisionAhead) => ({ ...collision, since: iso(since) });
