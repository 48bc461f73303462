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

/** Worktrees and cleaning, with git run in the command's own process. */
export interface WorktreeFacet {
  list(): Promise<Result<readonly Surveyed[], Refusal>>;
  clean(request: CleanWorktreesRequest): Promise<Result<CleanWorktreesReport, Refusal>>;
  /** What `ov clean` would do; touches nothing. */
  planClean(request: CleanRequest): Promise<Result<CleanPlan, Refusal>>;
  carryOutClean(plan: CleanPlan): Promise<Result<CleanReport, Refusal>>;
  /** Brings back what a clean removed, as far as nothing has taken its place. */
  restore(name: string): Promise<Result<RestoreReport, Refusal>>;
  /** Asks the person at the terminal; undefined when there is none. */
  confirm(question: string): Promise<boolean | undefined>;
}
