import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";
import type { CleanReport } from "../../../usecases/worktrees/carry-out-clean.ts";
import type { CleanWorktreesReport, CleanWorktreesRequest } from "../../../usecases/worktrees/clean-worktrees.ts";
import type { CleanPlan, CleanRequest } from "../../../usecases/worktrees/plan-clean.ts";
import type { Surveyed } from "../../../usecases/worktrees/survey.ts";

export interface RestoreReport {
  readonly name: string;
  /** Refs that were missing and are back. */
  readonly refs: readonly string[];
  readonly rows: number;
  /** Files and directories that were missing and are back, relative to the state directory. */
  readonly files: readonly string[];
}

export interface Rest {
  readonly agentName: string;
  readonly files: readonly string[];
  /** The branch has commits of its own as well. */
  readonly hasCommits: boolean;
}

/** One snapshot or rescue, as `ov snapshots` shows it. */
export interface SnapshotView {
  /** The short name: what stands behind `refs/overstory/`. */
  readonly name: string;
  readonly ref: string;
  readonly commit: string;
  readonly agentName: string;
  readonly createdAt: number;
  readonly reason: string | null;
  /** Files that were left out: too large, or repositories of their own. */
  readonly skipped: readonly string[];
}

export interface SnapshotDetail extends SnapshotView {
  /** The commit its worktree was at. */
  readonly onTop: string | null;
  /** Files that were not committed. */
  readonly uncommitted: readonly { readonly path: string; readonly status: string }[];
  /** Files that differ from where the agent began. */
  readonly files: readonly { readonly path: string; readonly status: string }[];
  /** Uncommitted files inside submodules: the snapshot names only commits of those. */
  readonly inSubmodules: readonly string[];
  /** Where files that no snapshot can hold, and ignored files, were put. */
  readonly trash: readonly string[];
}

export interface SnapshotPlace {
  /** A directory that is not there yet. */
  readonly dir?: string | undefined;
  /** A branch that is not there yet. */
  readonly branch?: string | undefined;
}

export interface SnapshotRestored extends SnapshotView {
  readonly dir: string | null;
  readonly branch: string | null;
  readonly files: number;
  /** Uncommitted files inside submodules, which were not restored. */
  readonly inSubmodules: readonly string[];
}

/** Worktrees and cleaning, with git run in the command's own process. */
export interface WorktreeFacet {
  list(): Promise<Result<readonly Surveyed[], Refusal>>;
  clean(request: CleanWorktreesRequest): Promise<Result<CleanWorktreesReport, Refusal>>;
  /** What `ov clean` would do; touches nothing. */
  planClean(request: CleanRequest): Promise<Result<CleanPlan, Refusal>>;
  carryOutClean(plan: CleanPlan): Promise<Result<CleanReport, Refusal>>;
  /** Brings back what a clean removed, as far as nothing has taken its place. */
  restore(name: string): Promise<Result<RestoreReport, Refusal>>;
  /** What is uncommitted in the worktree of the agent that owns a branch; undefined when nothing is, or nobody owns it. */
  restOf(branch: string): Promise<Result<Rest | undefined, Refusal>>;
  /** Sentences about states of the agent's worktree that its branch does not show. `agent`: a name or a task. */
  unsettledOf(agent: string): Promise<readonly string[]>;
  /** Commits that rest; refused while its agent is in a turn. */
  commitRest(branch: string): Promise<Result<{ readonly hooksNotRun: readonly string[] }, Refusal>>;
  /** The refusal that `commitRest` would give; undefined when it would commit. Changes nothing. */
  whyNotCommitRest(branch: string): Promise<Refusal | undefined>;
  snapshots(): Promise<Result<readonly SnapshotView[], Refusal>>;
  /** Refused when nothing of that name is kept. */
  snapshot(of: string): Promise<Result<SnapshotDetail, Refusal>>;
  restoreSnapshot(of: string, place: SnapshotPlace): Promise<Result<SnapshotRestored, Refusal>>;
}
