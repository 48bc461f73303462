import type { FileChange } from "../domain/diff/shown-files.ts";
import type { CheckoutTerms } from "../domain/gate/gate.ts";
import type { Conflict } from "../domain/merge/ladder.ts";
import type { ProcessIdentity } from "../domain/process/process.ts";
import type { CommandRun } from "./gate-runner.ts";
import type { ReachKillPoint } from "./kill-points.ts";
import type { UnfilledSubmodule } from "./worktrees.ts";

/** The result of merging two commits as objects. `tree` of a conflict holds marker files and is never landed. */
export type ObjectMerge =
  | { readonly kind: "clean"; readonly tree: string }
  | { readonly kind: "conflicts"; readonly tree: string; readonly conflicts: readonly Conflict[] }
  | { readonly kind: "unrelated" }
  | {
      readonly kind: "failed";
      readonly problem: string;
      /** Files of which git could not make a result in time. */
      readonly files?: readonly string[];
    };

export interface ResolvedFile {
  readonly path: string;
  readonly mode: string;
  /** Null: the path is gone in the result. */
  readonly content: Uint8Array | null;
}

export interface ConflictInPlace {
  readonly conflict: Conflict;
  /** The two commits being merged. */
  readonly ours: string;
  readonly theirs: string;
}

/** What a rule made of a conflict, or why no rule settles it. */
export type Settled =
  | { readonly kind: "resolved"; readonly file: ResolvedFile; readonly strategy: string }
  | { readonly kind: "escalate"; readonly reason: string };

/** A path in a commit or tree. */
export interface FilePlace {
  readonly commit: string;
  readonly path: string;
}

/** An object at a path: its id and size, without its content. */
export interface StoredObject {
  readonly type: "file" | "directory";
  readonly id: string;
  readonly bytes: number;
}

export interface CommitRequest {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
  /** The author, when somebody other than the user wrote the commit. */
  readonly author?: Author | undefined;
}

export interface Author {
  readonly name: string;
  readonly email: string;
  /** Seconds since 1970 and the offset of the time zone, as git writes them. */
  readonly at: string;
}

/** A commit as it can be made again on another one. */
export interface ToldCommit {
  readonly commit: string;
  readonly parents: readonly string[];
  readonly message: string;
  readonly author: Author;
}

export interface RefChange {
  readonly ref: string;
  /** Null: the ref must not exist yet. */
  readonly from: string | null;
  /** Null: the ref is deleted. */
  readonly to: string | null;
  /** Commits of the user's own branches that come with it. Trees of theirs that git fsck would refuse keep nothing from moving. */
  readonly known?: readonly string[];
}

/**
 * moved   a ref was not where it was expected
 * locked  a living process holds a lock of git, or a branch is a symbolic ref; `problem` names it and what to do
 *
 * Nothing was changed by either.
 */
export type RefUpdate =
  | { readonly kind: "updated" }
  | { readonly kind: "moved"; readonly problem: string }
  | { readonly kind: "locked"; readonly problem: string };

export interface MoveRequest {
  readonly checkout: string;
  /** Must be its tip. */
  readonly from: string;
  readonly to: string;
  readonly reach?: ReachKillPoint;
  /** Hears of each lock file of git that was removed because no living process can hold it. */
  readonly onLockRemoved?: (path: string) => void;
}

/**
 * local-changes  files in that checkout are in the way
 * moved          its branch is elsewhere by now
 * locked         a living process holds a lock of git
 * no-room        the disk of that checkout is too full for the new files
 *
 * Unless it is done, everything is as it was.
 */
export type CheckoutMove =
  | { readonly kind: "done" }
  /** `marked`: those of the paths that git would not put away as they are. */
  | { readonly kind: "local-changes"; readonly paths: readonly string[]; readonly marked?: readonly MarkedPath[] }
  | { readonly kind: "moved"; readonly problem: string }
  | { readonly kind: "locked"; readonly problem: string }
  | { readonly kind: "no-room"; readonly problem: string }
  | { readonly kind: "failed"; readonly problem: string };

/** What a user told git about a file: not to look at its changes, or that it is to be added later. */
export interface MarkedPath {
  readonly path: string;
  readonly mark: "skip-worktree" | "assume-unchanged" | "intent-to-add";
}

/** A move whose process died before its end, and its outcome. */
export interface FinishedMove {
  readonly checkout: string;
  readonly ref: string;
  readonly from: string;
  readonly to: string;
  readonly outcome: CheckoutMove;
}

/** A place where files of a commit are checked out for gates. `slot` numbers it; two users never share one. */
export interface PoolCheckout {
  /** What decided how the files look; see `formOfFiles`. */
  readonly form: string;
  readonly path: string;
  /** Ignored paths that are as the setup command made them, without having run it. */
  readonly kept: readonly string[];
  /** Build caches that are as earlier gates left them. */
  readonly cached: readonly string[];
  /** The commit in whose files the setup command has to run first; null: there is nothing to install. */
  readonly installOn: string | null;
  /** Submodules that are empty in it. Absent when there are none. */
  readonly unfilled?: readonly UnfilledSubmodule[];
}

/** A submodule that would land at a commit which cannot be checked out elsewhere. */
export interface LostPointer {
  readonly path: string;
  readonly commit: string;
  readonly problem: string;
}

/** What a checkout may have besides the files of its commit. */
export interface KeepTerms extends CheckoutTerms {
  /** A landed commit. Dependencies installed from its files serve every tree with the same dependencies. */
  readonly landed: string | null;
  /**
   * Files that are neither tracked nor kept. `goes`: they are removed. `stays`: they are left as the gate before on the same
   * commit left them. Tracked files and kept paths are put right in both cases.
   */
  readonly rest: "goes" | "stays";
}

/** `left`: files of the setup command outside the kept paths. Because of them it has to run each time. */
export type Installed = { readonly kind: "kept" } | { readonly kind: "not-kept"; readonly left: readonly string[] };

/** A hook belongs to the project, but it runs files of the candidate: code of agents, as gates do. */
export interface HookVeto {
  /** `commit-msg` judges the message, which is ours; the others judge the files. */
  readonly hook: string;
  /** The exit of the hook and its output, in words. */
  readonly words: string;
}

export interface HookRequest {
  /** A checkout of the pool. */
  readonly checkout: string;
  readonly message: string;
  newRun(): CommandRun;
  /** Puts the process on record before the hook runs. The function that it returns records the end. */
  record(identity: ProcessIdentity, run: CommandRun): Promise<() => Promise<void>>;
}

export interface PatchForm {
  /** How many unchanged lines stand around a change. */
  readonly context?: number | undefined;
  /** Lines that differ in blanks alone count as the same. */
  readonly ignoreSpace?: boolean | undefined;
}

/**
 * Merging without a working tree: every result exists as objects before one compare-and-swap makes it visible. The
 * user's checkout, index and stash are never used. No program that an agent could have configured is ever run:
 * filters and merge hooks only where the user's own configuration names them or the operator confirmed them.
 */
export interface MergeGit {
  /** The commit a ref, branch or name stands for. */
  commitOf(ref: string): Promise<string | undefined>;
  treeOf(commit: string): Promise<string>;
  /** Is `commit` an ancestor of, or equal to, `into`? */
  contains(into: string, commit: string): Promise<boolean>;
  /** The commit both have in common; undefined when they share no history. */
  baseOf(one: string, other: string): Promise<string | undefined>;
  /** Paths that differ between the common ancestor of both and `to`. */
  changedFiles(from: string, to: string): Promise<readonly string[]>;
  /** The same for each of these commits, in their order and in a few processes. All are given by their ids. */
  changedFilesOfEach(from: string, heads: readonly string[]): Promise<readonly (readonly string[])[]>;
  /**
   * For each head the commits of the history of `from` that its own commits were made on or took in, by one process. Where
   * that is one commit, it is the merge base. All are given by their ids.
   */
  leavingPoints(from: string, heads: readonly string[]): Promise<readonly ReadonlySet<string>[]>;
  /** The differing paths of each pair of commits, or of trees, given by their ids. */
  differing(pairs: readonly { readonly from: string; readonly to: string }[]): Promise<readonly (readonly string[])[]>;
  /** The full messages of the commits that are in `to` and not in `from`. */
  messagesSince(from: string, to: string): Promise<readonly string[]>;
  /** The commits that are in `to` and not in `from`, the oldest first. `mainLine`: those by which `to` itself moved. */
  commitsSince(from: string, to: string, which: "mainLine" | "noMerges" | "merges"): Promise<readonly ToldCommit[]>;
  /** Is there a merge among the commits that are in one of `heads` and not in `from`? Costs one git process. */
  hasMerges(from: string, heads: readonly string[]): Promise<boolean>;
  /**
   * Has the history of `into` every change of `commit`, in commits of other ids? True when each commit has a twin with the
   * same patch, or when `into` once had exactly these files since both parted.
   */
  hasChangesOf(into: string, commit: string): Promise<boolean>;
  /** A readable patch of these files, from the merge base of `from` and `to` up to `to`. */
  patchOf(from: string, to: string, paths: readonly string[]): Promise<string>;
  /** A readable patch between two commits or trees, of all files or of these. */
  patch(from: string, to: string, paths?: readonly string[], form?: PatchForm): Promise<string>;
  subjectOf(commit: string): Promise<string>;
  /**
   * Submodules (nested ones too) whose commit differs between `from` and `to`, and whose commit in `to` is missing from
   * the user's module. A commit that exists, there or in the module of a worktree, gets a ref that holds it.
   */
  lostPointers(from: string, to: string): Promise<readonly LostPointer[]>;

  /** Starts the processes that the first merge would have to wait for. Changes nothing and never fails. */
  expectMerges(): Promise<void>;
  /** Attributes of `ours` decide, as they do for `git merge`; merge drivers that are programs do not run. */
  merge(ours: string, theirs: string): Promise<ObjectMerge>;
  /** Many pairs through one process; results in the order of the pairs. */
  mergePairs(pairs: readonly { readonly ours: string; readonly theirs: string }[]): Promise<readonly ObjectMerge[]>;
  /** Applies to `ours` the changes from `base` to `theirs`. The history they share does not matter. */
  mergeOver(base: string, ours: string, theirs: string): Promise<ObjectMerge>;
  /** Takes back what `commit` (a merge, by its first parent; or an ordinary commit) brought, on top of `onto`. */
  revert(commit: string, onto: string): Promise<ObjectMerge>;
  readBlob(oid: string): Promise<Uint8Array>;
  /** The id of what a commit or tree has at a path; undefined when it has nothing there. */
  blobAt(commit: string, path: string): Promise<string | undefined>;
  /** The content of each, by one process. All of it is in memory together: ask `objectsAt` for the sizes before. */
  readBlobs(oids: readonly string[]): Promise<readonly Uint8Array[]>;
  /** The object at each place, found by one git process for any number of places. A submodule counts as a directory. */
  objectsAt(places: readonly FilePlace[]): Promise<readonly (StoredObject | undefined)[]>;
  /** The targets of the symbolic links among these paths and the directories above them, by the path of the link. */
  linksAt(commit: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The targets of all symbolic links of a commit, by the path of the link. */
  linksOf(commit: string): Promise<ReadonlyMap<string, string>>;
  /** Files that came between the merge base and `to` under names that no checkout can hold. */
  unusableNames(from: string, to: string): Promise<readonly string[]>;
  /**
   * Why git cannot read all that `to` has and `from` does not: commits, trees and the content of files. Undefined where it
   * can. Throws where git cannot read `from` either. It reads every such object: for the search after a failure. `isKnown`:
   * `to` is the tip of a branch of the user's own.
   */
  unreadable(from: string, to: string, of?: { readonly isKnown: boolean }): Promise<string | undefined>;
  /** Does the tree at this commit give the path the attribute `merge=union`? */
  isUnion(commit: string, path: string): Promise<boolean>;
  /** The same tree with these files replaced. */
  withFiles(tree: string, files: readonly ResolvedFile[]): Promise<string>;
  /** Signed when the project signs its commits; made in the user's name when git knows it. */
  commit(request: CommitRequest): Promise<string>;

  /** All or nothing. `onLockRemoved` hears of each lock file that was removed because no living process can hold it. */
  updateRefs(
    changes: readonly RefChange[],
    reason: string,
    onLockRemoved?: MoveRequest["onLockRemoved"],
  ): Promise<RefUpdate>;
  refsBelow(...prefixes: readonly string[]): Promise<readonly { readonly ref: string; readonly commit: string }[]>;
  /** Refs in whose history the commit is. */
  refsWith(commit: string): Promise<readonly string[]>;
  /** Branches whose tips are in the history of `to` and not in that of `from`. */
  refsBetween(from: string, to: string): Promise<readonly { readonly ref: string; readonly commit: string }[]>;
  /** Paths of the checkouts that have this branch checked out; of a branch that is not ours, also those that are missing. */
  checkoutsOf(branch: string): Promise<readonly string[]>;
  /** The commits that were made or brought in in each checkout, the newest last, as far as its log tells. Not of places for gates. */
  headLogs(): Promise<readonly { readonly checkout: string; readonly commits: readonly string[] }[]>;
  /** Why the files of this checkout cannot be moved, as when its directory is missing; undefined where it is one. */
  checkoutProblem(path: string): Promise<string | undefined>;
  /** Has the checkout neither tracked changes nor staged ones? */
  isClean(checkout: string): Promise<boolean>;
  /**
   * Moves a checked-out branch with its files and index, forwards or backwards. Uncommitted changes to other files
   * stay. A move whose process was killed is finished or taken back by `finishMoves`.
   */
  moveCheckout(request: MoveRequest): Promise<CheckoutMove>;
  finishMoves(reach?: ReachKillPoint): Promise<readonly FinishedMove[]>;
  /** Why the files of a commit cannot be checked out as plain git would, in words; undefined where they can. */
  filterProblem(commit: string): Promise<string | undefined>;
  /** The project's hooks that could veto a merge: those that may run, and those that are not confirmed. */
  hooks(): Promise<{ readonly trusted: readonly string[]; readonly unconfirmed: readonly string[] }>;
  /** The trusted ones of them on this candidate. */
  runHooks(request: HookRequest): Promise<HookVeto | undefined>;

  /**
   * Checks out a commit in a slot of the pool: its tracked files exactly, submodules at the commits it names, nothing
   * untracked or ignored except the paths that the terms keep. Kept paths are as setup made them: changes of gates to them
   * are gone. A slot that git cannot use any more is made anew.
   */
  checkOut(slot: number, commit: string, keep?: KeepTerms): Promise<PoolCheckout>;
  /**
   * Names everything besides a tree that decides how its files look when they are checked out now: attributes outside the
   * tree, settings and filters. What a gate said about a tree counts only for the same form.
   */
  formOfFiles(): Promise<string>;
  /** Keeps the files that the setup command has just made in a slot of this commit. No process of it may run any more. */
  keepInstalled(slot: number, commit: string, keep: KeepTerms): Promise<Installed>;
}

type Harmless =
  | "commitOf"
  | "treeOf"
  | "contains"
  | "baseOf"
  | "changedFiles"
  | "commitsSince"
  | "differing"
  | "patch"
  | "merge"
  | "mergePairs"
  | "mergeOver"
  | "revert"
  | "readBlob"
  | "blobAt"
  | "readBlobs"
  | "objectsAt"
  | "isUnion"
  | "withFiles"
  | "commit"
  | "refsBelow"
  | "checkoutsOf";

/** The part of merging that only looks: the objects it makes vanish with it. */
export interface LookingGit extends Pick<MergeGit, Harmless> {
  /**
   * The commit by which a user took this commit out of `into` again with `git revert`, as its message says. Undefined when
   * there is none, or it was reverted itself.
   */
  revertOf(commit: string, into: string): Promise<string | undefined>;
  /** The files that differ between two commits or trees, with the lines that came and went. */
  fileChanges(from: string, to: string, form?: Pick<PatchForm, "ignoreSpace">): Promise<readonly FileChange[]>;
  /** Submodules that changed between two commits of a branch and are at another commit in its checkout. */
  submodulesBehind(
    branch: string,
    commits: { readonly from: string; readonly to: string },
  ): Promise<readonly StaleSubmodules[]>;
}

/** The submodules of one checkout that are behind its branch. */
export interface StaleSubmodules {
  readonly checkout: string;
  readonly paths: readonly string[];
}

/** Git to look ahead with: it settles conflicts by the rules that landing follows. */
export interface AheadGit extends LookingGit {
  resolve(conflict: ConflictInPlace): Promise<Settled>;
}

/** Git to settle conflicts with: what it makes stays. */
export interface SettlingGit extends Pick<MergeGit, Harmless | "updateRefs"> {
  resolve(conflict: ConflictInPlace): Promise<Settled>;
}

/**
 * Questions that every command asks that queues a branch, answered from git's own files or by one or two processes.
 * Undefined: the short way does not tell, and `LookingGit` has to be asked.
 */
export interface QuickGit {
  /** Null when there is no such branch. */
  tipOf(branch: string): string | null | undefined;
  /** Files that a commit changes since its history left the branch on which work for the target lands now. */
  changedFiles(target: string, commit: string): Promise<readonly string[] | undefined>;
  /** True when nothing in the repository can have a say in how the files of its checkout look. False tells nothing. */
  hasPlainFiles(): boolean;
}
