import type { ConflictInPlace, MergeGit, Settled } from "./merge-git.ts";

type Harmless =
  | "commitOf"
  | "treeOf"
  | "contains"
  | "baseOf"
  | "changedFiles"
  | "patch"
  | "merge"
  | "mergePairs"
  | "revert"
  | "readBlob"
  | "isUnion"
  | "withFiles"
  | "commit"
  | "refsBelow"
  | "checkoutsOf";

/** The part of merging that only looks: whatever it makes vanishes with it. */
export interface LookingGit extends Pick<MergeGit, Harmless> {
  /** Submodules that changed between two commits of a branch and are at another commit in its checkout. */
  submodulesBehind(
    branch: string,
    commits: { readonly from: string; readonly to: string },
  ): Promise<readonly StaleSubmodules[]>;
}

export interface StaleSubmodules {
  readonly checkout: string;
  readonly paths: readonly string[];
}

/** Git to look ahead with: it settles conflicts by the rules that landing follows. */
export interface AheadGit extends LookingGit {
  resolve(conflict: ConflictInPlace): Promise<Settled>;
}
