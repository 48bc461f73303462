import { type MergeEntry, verdictOf } from "../../domain/merge/entry.ts";
import type { BranchDiff } from "../../usecases/branches/diff-branch.ts";
import type { AgentDiff } from "../../usecases/diffs/agent-diff.ts";
import type { CleanWorktreesReport } from "../../usecases/worktrees/clean-worktrees.ts";
import type { CleanPlan } from "../../usecases/worktrees/plan-clean.ts";
import type { CleanReport, RestoreReport } from "../../usecases/worktrees/run-clean.ts";
import type { NamedSnapshot, SnapshotDetail, SnapshotRestored } from "../../usecases/worktrees/snapshots.ts";
import type { Surveyed } from "../../usecases/worktrees/survey.ts";
import { olderCleanKeys, olderWorktreeCleanKeys } from "../older-keys.ts";
import { iso } from "../values.ts";
import { agentWorkOf } from "./diff.ts";

/** The directory and branch of an agent. `merge`: where the commit it is at stands in the merge queue. */
export const worktreeView = (
  { worktree, owner, head, exists }: Surveyed,
  merge: Pick<MergeEntry, "status" | "verdict"> | undefined,
) => ({
  path: worktree.path,
  branch: worktree.branch,
  head,
  agentName: owner?.agent.name ?? null,
  state: owner?.agent.state ?? null,
  taskId: owner?.agent.taskId ?? null,
  kind: worktree.kind,
  exists,
  mergeStatus: merge?.status ?? null,
  verdict: verdictOf({ verdict: merge?.verdict ?? null }),
});

/** What became of the worktrees that were to be removed. */
export const cleanedWorktreesView = (report: CleanWorktreesReport) => ({
  removed: [...report.removed, ...report.failed],
  reasons: report.kept,
  pruned: report.pruned,
  rescued: report.removed.flatMap(({ agentName, rescue }) => (rescue === null ? [] : [{ agentName, ...rescue }])),
  ...olderWorktreeCleanKeys(report),
});

/** The plan of `ov clean`: what it would remove, and what it would keep. */
export const cleanPlanView = (plan: CleanPlan) => ({
  plan: {
    worktrees: plan.worktrees.map(({ worktree, verdict }) => ({
      path: worktree.path,
      branch: worktree.branch,
      agentName: worktree.agentName,
      class: verdict.class,
      reason: verdict.reason,
    })),
    branches: plan.branches.map(({ branch }) => branch),
    messages: plan.messages,
    usage: plan.usage,
    events: plan.events,
    sessions: plan.sessions,
    endRuns: plan.endRuns.length > 0,
    openRuns: plan.endRuns.map(({ runId, open }) => ({ runId, open })),
    dirs: plan.dirs.map(({ dir }) => dir),
    rescues: plan.rescues.map(({ ref }) => ref),
  },
  live: plan.live,
  keptBranches: plan.keptBranches.map(({ branch }) => branch),
  keptWorktrees: plan.keptWorktrees,
});

/** A clean that removed nothing, because there was nothing to remove or because it was not confirmed. */
export const emptyCleanView = (plan: CleanPlan) => ({
  ...cleanPlanView(plan),
  rescueRefsDeleted: 0,
  backup: null,
  ...olderCleanKeys(undefined),
});

/** What `ov clean` removed. */
export const cleanReportView = (plan: CleanPlan, report: CleanReport) => ({
  ...cleanPlanView(plan),
  keptWorktrees: report.keptWorktrees,
  rescueRefsDeleted: report.rescuesDeleted,
  backup: report.backup,
  removed: report.worktrees,
  problems: report.problems,
  ...olderCleanKeys(report),
  ...(plan.agent === undefined ? {} : { agent: cleanedAgent(plan.agent, report) }),
});

const cleanedAgent = (agentName: string, report: CleanReport) => ({
  agentName,
  worktreeRemoved: report.worktrees.some((one) => one.removed),
  branchDeleted: report.branchesDeleted.length > 0,
  agentDirCleared: report.dirs.some((dir) => dir.target === "agents"),
  logsDirCleared: report.dirs.some((dir) => dir.target === "logs"),
  markedCompleted: false,
  released: report.released.includes(agentName),
});

/** What came back of a clean. */
export const restoredCleanView = ({ name, refs, rows, files, putAside }: RestoreReport) => ({
  name,
  refs,
  rows,
  files,
  putAside,
});

/** What an agent has changed since it started; the patch is left out where only the files are asked for. */
export const agentWorkView = (
  work: AgentDiff,
  files: readonly ChangedFile[],
  { patch }: { readonly patch: boolean },
) => ({
  ...agentWorkOf(work),
  ...(patch ? { patch: work.patch } : {}),
  skipped: work.skipped,
  files: files.map(changedFileView),
});

/** What a branch changes against another one; the patch is left out where only the files are asked for. */
export const branchWorkView = (
  work: BranchDiff,
  files: readonly ChangedFile[],
  { patch }: { readonly patch: boolean },
) => ({
  branch: work.branch,
  against: work.against,
  head: work.head,
  ...(patch ? { patch: work.patch } : {}),
  files: files.map(changedFileView),
});

/** A file that a patch changes, with the numbers of its lines. */
export const changedFileView = ({ path, added, removed }: ChangedFile) => ({ path, added, removed });

export interface ChangedFile {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
}

/** A snapshot of an agent's work. */
export const snapshotView = (snapshot: NamedSnapshot) => ({
  name: snapshot.name,
  ref: snapshot.ref,
  commit: snapshot.commit,
  agentName: snapshot.agentName,
  createdAt: iso(snapshot.createdAt),
  reason: snapshot.reason,
  skipped: snapshot.skipped,
});

export const snapshotDetailView = (snapshot: SnapshotDetail) => ({
  ...snapshotView(snapshot),
  onTop: snapshot.onTop,
  files: snapshot.files,
  uncommitted: snapshot.uncommitted,
  inSubmodules: snapshot.inSubmodules,
  trash: snapshot.trash,
});

/** A snapshot that was written to a directory, a branch, or both. */
export const restoredSnapshotView = (restored: SnapshotRestored) => ({
  ...snapshotView(restored),
  dir: restored.dir,
  branch: restored.branch,
  filesWritten: restored.files,
  inSubmodules: restored.inSubmodules,
});
