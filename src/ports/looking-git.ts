import type { ConflictInPlace, MergeGit, Settled } from "./merge-git.ts";

type Harmless =
  | "commitOf"
  | "treeOf"
  | "contains"
  | "baseOf"
  | "changedFiles"
  | "differing"
  | "patch"
  | "merge"
  | "mergePairs"
  | "mergeOver"
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

/**
 * Questions that every command asks that queues a branch, answered from git's own files or by one or two processes.
 * Undefined: the short way does not tell, and `LookingGit` has to be asked.
 */
export interface QuickGit {
  /** Null when there is no such branch. */
  tipOf(branch: string): string | null | undefined;
  /** Files that differ between a commit and where its history left what work for the target lands on now. */
  changedFiles(target: string, commit: string): Promise<readonly string[] | undefined>;
  /** True when nothing in the repository can have a say in how the files of its checkout look. False tells nothing. */
  hasPlainFiles(): boolean;
}
