import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";
import type { Prediction } from "../../../usecases/merge/predict.ts";

export interface PredictRequest {
  /** The branch it is meant for. */
  readonly target: string;
  readonly runId: string | null;
  /** Branches on which work for the target may wait instead; see `merge.landings`. */
  readonly landings: readonly string[];
  /** What would land, in this order. Without a commit, the tip of the branch. */
  readonly candidates: readonly { readonly branch: string; readonly headCommit: string }[];
}

export interface PredictedMerge extends Prediction {
  /** Gates that would look at it, by name. */
  readonly gatesLikely: readonly string[];
}

/** What commands about merging learn from git. Nothing here writes to the project or its repository. */
export interface MergeFacet {
  /** The tip of a branch; a refusal, with the nearest name, when there is none. */
  head(branch: string): Promise<Result<string, Refusal>>;
  branches(): Promise<readonly string[]>;
  /**
   * Files that landing this commit of a branch would change where work for the target lands now, those that come back
   * with it included; none when the target does not exist.
   */
  changedFiles(target: string, of: { readonly branch: string; readonly commit: string }): Promise<readonly string[]>;
  /** Submodules that changed between two commits of a branch and are at another commit in its checkout. */
  submodulesBehind(
    branch: string,
    commits: { readonly from: string; readonly to: string },
  ): Promise<readonly { readonly checkout: string; readonly paths: readonly string[] }[]>;
  /** What the merge worker would make of these, by the same rules, on top of where they would land now. */
  predict(request: PredictRequest): Promise<readonly PredictedMerge[]>;
  /** What a commit brings, as a patch: what a landing brought, or what a head would bring to the branch. */
  patch(of: {
    readonly branch: string;
    readonly headCommit: string;
    readonly targetBranch: string;
    readonly resultCommit: string | null;
  }): Promise<Result<string, Refusal>>;
}
