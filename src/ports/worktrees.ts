import type { WorktreeKind } from "../domain/agent/agent.ts";
import type { WorkSeen } from "../domain/completion/rules.ts";
import type { WordAboutBranch } from "../domain/merge/taken-out.ts";
import type { Result } from "../domain/result.ts";
import type { OffBranch, Unsettled, WorktreeChange } from "../domain/worktree/change.ts";

export interface SeatRequest {
  readonly agentName: string;
  readonly branch: string;
  readonly path: string;
  /** Branch or commit to start from. */
  readonly baseRef: string;
  readonly kind: WorktreeKind;
  /**
   * The directory that an earlier incarnation on the same branch was given, as in `Seat`; null or missing for new work.
   * If it still stands but git has lost its record, the record is made anew and all files stay.
   */
  readonly identity?: string | null;
  /** The last commit that an earlier incarnation on the same branch was seen at; null or missing for new work. */
  readonly lastCommit?: string | null;
}

export interface Seat {
  readonly path: string;
  /** Device, inode and time of birth of the directory. A directory with another identity is not this agent's. */
  readonly identity: string;
  readonly branch: string;
  readonly baseCommit: string;
  /** Submodules that are empty in it. Absent when there are none. */
  readonly unfilled?: readonly UnfilledSubmodule[];
  /** The place in the trash of a foreign directory that stood at the path. Absent when there was none. */
  readonly putAside?: string;
}

/** A submodule whose files could not be checked out, because this machine lacks the objects. */
export interface UnfilledSubmodule {
  readonly path: string;
  readonly problem: string;
  /** What to type in the project's checkout; null when the problem says it. */
  readonly fix: string | null;
}

/** Work in a submodule of a worktree that was looked at. */
export interface KeptSubmodule {
  readonly path: string;
  /** Refs of the user's module that hold work which nothing held before. */
  readonly refs: readonly string[];
  /** Why work in it could not be kept; null when all of it is. */
  readonly problem: string | null;
}

export interface WorktreeRefusal {
  readonly kind: "worktree-failed";
  readonly path: string;
  readonly branch: string;
  readonly problem: string;
}

/** A worktree that some agent owns or owned. */
export interface OwnedWorktree {
  readonly agentName: string;
  readonly generation: number;
  readonly path: string;
  readonly branch: string;
  readonly kind: WorktreeKind;
  /** The directory that the agent was given, as in `Seat`; null or missing when it was never recorded. */
  readonly identity?: string | null;
  readonly baseCommit: string | null;
  /** Where its work goes: what came from there into the branch is not the agent's own. */
  readonly baseRef?: string | null;
  /** A copy for a role that changes nothing: no branch and no file of it comes back to the project. */
  readonly isThrownAway?: boolean;
}

export interface WorktreeFacts extends WorkSeen {
  /** Commits that go with the git state of the worktree: made on a detached HEAD, put aside by a rebase. */
  readonly loose: number;
  /** Null when its branch holds all its commits. */
  readonly offBranch: OffBranch | null;
  /** Files that are not committed. */
  readonly uncommitted: readonly string[];
}

/** `mended`: it was missing or pointed elsewhere, and is right again. `broken`: no agent may work there. */
export type GitLink = { readonly kind: "sound" | "mended" } | { readonly kind: "broken"; readonly problem: string };

/** What the last turn of an agent left in its worktree: the commit, how many are its own, uncommitted work. */
export interface LastTurn {
  readonly headCommit: string | null;
  readonly ahead: number;
  readonly dirty: boolean;
}

export interface Snapshot {
  readonly ref: string;
  readonly commit: string;
  /** Files left out: too large, unreadable, or git repositories of their own. */
  readonly skipped: readonly string[];
}

export interface Removal {
  readonly removed: boolean;
  /** Where ignored files, and files that no snapshot can hold, went, when there were any. */
  readonly trash: string | null;
  readonly problem: string | null;
}

/** Worktrees of one repository; the kind of each is data. No hook, filter or fsmonitor that an agent could have configured is ever run by us. */
export interface Worktrees {
  /**
   * Safe to repeat: a worktree that is already there on its branch is the answer. Never adopts a foreign directory. A
   * foreign directory at the path of an earlier incarnation's worktree is moved to the trash, and the branch is checked
   * out afresh.
   */
  create(request: SeatRequest): Promise<Result<Seat, WorktreeRefusal>>;
  /**
   * Makes sure that the directory is the one the agent was given, and that git commands in it belong to this worktree,
   * not to the checkout around it. Looks at files only.
   */
  ensureLink(worktree: OwnedWorktree): Promise<GitLink>;
  /**
   * The directories that the agent's program must be able to write to: the worktree, and of the git directory only what
   * commits there need. Empty for the project's own checkout. Looks at files only.
   */
  writableRoots(worktree: OwnedWorktree): Promise<readonly string[]>;
  /** The author and the committer that git knows there, given these variables, as variables. Empty where it knows none. */
  authorVariables(
    worktree: OwnedWorktree,
    env: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>>;
  /**
   * What others did to the worktree since the last turn of its agent, where it would cost work or lead the next commit
   * astray. Changes nothing. To be asked before every turn, after `ensureLink`.
   */
  changesSince(worktree: OwnedWorktree, last: LastTurn): Promise<readonly WorktreeChange[]>;
  /**
   * Undoes these changes as far as possible: brings branch and files back, and puts lost commits under snapshot refs,
   * which it returns. Overwrites no file. Safe to repeat.
   */
  mendChanges(worktree: OwnedWorktree, changes: readonly WorktreeChange[]): Promise<readonly Snapshot[]>;
  /**
   * Removes lock files of git commands that were killed in the worktree, so that the next commands of its agent work. A lock
   * that a living process may hold stays. To be asked before every turn.
   */
  removeDeadLocks(worktree: OwnedWorktree): Promise<void>;
  /** The branch the project root has checked out, or undefined when detached. */
  currentBranch(): Promise<string | undefined>;
  /** The commit a ref or name stands for. */
  resolve(ref: string): Promise<string | undefined>;
  /** What the worktree holds. Of the project's own checkout only the commit: what lies in it is the user's. */
  inspect(worktree: OwnedWorktree): Promise<WorktreeFacts>;
  /**
   * Keeps commits, tracked changes and untracked files that are not ignored under
   * `refs/overstory/snap/<agent>/<generation>/<n>` of the project repository, touching neither the worktree nor its
   * index. The last snapshot again when nothing changed since: the process that took it may have died before it was
   * recorded. Undefined when there is nothing to keep. Commits that no branch holds are further parents of it. Works as
   * well on a worktree whose git directory was destroyed: its files then count as changes to the last commit we know.
   */
  snapshot(worktree: OwnedWorktree): Promise<Snapshot | undefined>;
  /**
   * Takes the directory away; ignored files go to the trash. The caller must have snapshotted it before. With
   * `deleteBranch` the branch goes too, but only if its tip is still the one given and it is checked out nowhere. Safe
   * to repeat: a removal that was cut short is finished. The project's own checkout is never removed.
   */
  remove(worktree: OwnedWorktree, options: { readonly deleteBranch: string | null }): Promise<Removal>;
  /**
   * Is everything on this commit contained in the target, also as squashed or cherry-picked changes? Not what landed and
   * was taken out again, by `words`: git has that in its history for ever.
   */
  isLanded(question: LandedQuestion, target: string): Promise<boolean>;
  /**
   * Brings the commits of a worktree with a git directory of its own into the project, as branches of the same names;
   * to be called after each turn. For every kind, work in submodules, committed or not, is brought into the user's
   * modules under `refs/overstory/sub/<agent>/`. Answers the submodules in which something new was found, or in which
   * work could not be kept.
   */
  collect(worktree: OwnedWorktree): Promise<readonly KeptSubmodule[]>;
}

export interface LandedQuestion {
  readonly commit: string;
  /** Where the work on it began. */
  readonly base: string | null;
  /** What the record says about its branch; missing when nothing of it was ever taken out. */
  readonly words?: readonly WordAboutBranch[];
}

/** A worktree as found in the repository, whichever program made it. */
export interface FoundWorktree {
  readonly path: string;
  /** Short name; null when no branch is checked out there. */
  readonly branch: string | null;
  readonly head: string | null;
  /** False when only git's record of it is left. */
  readonly exists: boolean;
}

export interface FoundBranch {
  readonly branch: string;
  readonly tip: string;
}

/** A ref under which forcibly removed work stays reachable. */
export interface Rescue {
  readonly ref: string;
  readonly commit: string;
  readonly skipped: readonly string[];
}

/** Work that is kept under a ref of ours. */
export interface KeptSnapshot {
  readonly ref: string;
  readonly commit: string;
  readonly agentName: string;
  readonly createdAt: number;
  /** The commit the worktree was at; the snapshot itself when everything was committed. */
  readonly onTop: string | null;
}

/** What the last snapshot of an agent has and its branch lacks. */
export interface KeptRest {
  readonly ref: string;
  /** Files that were not committed. */
  readonly files: readonly string[];
  /** Messages of the commits that the worktree was at, newest first. */
  readonly messages: readonly string[];
  /** Lines of commits that the snapshot keeps beside those. */
  readonly beside: readonly { readonly tip: string; readonly messages: readonly string[] }[];
  /** The branch can be moved forward to the snapshot's commits. */
  readonly continuesBranch: boolean;
  readonly branchHasCommits: boolean;
}

export interface RestoredWork {
  /** Null when only files from the trash came back. */
  readonly ref: string | null;
  readonly files: readonly string[];
  /** Paths that came back from the trash: ignored files, and files no snapshot can hold. */
  readonly fromTrash: number;
  /** A snapshot that was not brought back, because it was taken at another commit than the branch's. Null when none. */
  readonly left: { readonly ref: string; readonly onTop: string | null } | null;
}

/** `skipped`: repositories inside the worktree, which no commit can hold. */
export type CommittedRest =
  | {
      readonly commit: string;
      readonly skipped: readonly string[];
      /** Paths of the hooks that `git commit` would have run. */
      readonly hooksNotRun: readonly string[];
    }
  | RestProblem;

export interface RestProblem {
  readonly problem: string;
  /** What to type about it. */
  readonly fix: string;
}

/** What one removed worktree left in the trash. */
export interface TrashEntry {
  readonly name: string;
  readonly path: string;
  readonly agentName: string;
  /** Files among it that no commit or snapshot could hold: too large, or repositories of their own. */
  readonly holdsWork: boolean;
}

/** What operator commands need beyond the life of one agent. */
export interface SavedWork {
  readonly commit: string;
  /** Some of it is in no commit yet. */
  readonly uncommitted: boolean;
  readonly skipped: readonly string[];
}

export interface WorktreeKeeping extends Worktrees {
  /** Linked worktrees on an agent's branch, which are below `overstory/`. Clones are known by their agents only. */
  list(): Promise<readonly FoundWorktree[]>;
  /** All work in a worktree as one commit under no ref, which git forgets by itself; undefined when there is none. */
  saveForLooking(worktree: OwnedWorktree): Promise<SavedWork | undefined>;
  /** The quick part of `inspect`, for looking at many. */
  state(worktree: OwnedWorktree): Promise<Pick<WorktreeFacts, "exists" | "head" | "dirty">>;
  /** `isLanded` in any of the targets, for many commits at once, in their order. */
  areLanded(questions: readonly LandedQuestion[], targets: readonly string[]): Promise<readonly boolean[]>;
  /**
   * Deletes branches whose tips are still these and which are checked out nowhere; answers why each was kept, or null.
   */
  deleteBranches(branches: readonly FoundBranch[]): Promise<readonly (string | null)[]>;
  /** Agents' branches. Landing branches (`overstory/integration/`) are not among them. */
  branches(): Promise<readonly FoundBranch[]>;
  /**
   * Keeps commits and files of a worktree under `refs/overstory/rescue/<agent>-<generation>`; if that ref holds other
   * work, a number is put behind it. Undefined when there is nothing to keep.
   */
  rescue(worktree: OwnedWorktree): Promise<Rescue | undefined>;
  rescues(): Promise<readonly Rescue[]>;
  /** False when there is a branch of that name. */
  makeBranch(branch: string, commit: string): Promise<boolean>;
  /** Null when it is gone, else why it was kept: another tip, or checked out somewhere. */
  deleteBranch(branch: string, tip: string): Promise<string | null>;
  /** Deletes refs whose commits are still the given ones; answers how many. */
  deleteRefs(refs: readonly { readonly ref: string; readonly commit: string }[]): Promise<number>;
  /** Refs of ours below `refs/overstory/` that belong to this agent: snapshots and pins. */
  keptFor(agentName: string): Promise<readonly { readonly ref: string; readonly commit: string }[]>;
  /** Everything that is kept under a ref of ours, oldest first. */
  snapshots(): Promise<readonly KeptSnapshot[]>;
  /** Paths that differ between two commits, with the letter git gives to the difference. */
  changes(from: string, to: string): Promise<readonly { readonly path: string; readonly status: string }[]>;
  /**
   * Writes all files of a snapshot into a new directory, each as it lay in the worktree, and returns their number.
   * Throws `filters-not-ready`, and writes nothing, where a needed filter may not run.
   */
  exportFiles(kept: KeptSnapshot, dir: string): Promise<number>;
  /**
   * The work of a snapshot as a commit for a branch: the files as `git add -A` in the worktree would have stored them.
   * Throws `filters-not-ready` where a filter that they need may not run.
   */
  commitKept(kept: KeptSnapshot, message: string): Promise<string>;
  /** Uncommitted files inside submodules that belong to a snapshot. No branch and no directory of it holds them. */
  submoduleWork(kept: KeptSnapshot): Promise<readonly string[]>;
  /**
   * Before an agent's worktree is made anew: notes that its kept work is to be brought back into it. Does nothing if
   * the worktree stands there. A deleted branch is put back where the work was; answers in words when that
   * cannot be found.
   */
  intendRestore(request: Omit<SeatRequest, "baseRef">): Promise<string | undefined>;
  /**
   * Brings intended changes back after a snapshot, uncommitted as they were. Undefined when there are none. Safe to
   * repeat.
   */
  restore(worktree: OwnedWorktree): Promise<RestoredWork | undefined>;
  /** For an agent whose worktree is gone. Undefined when its branch has all that is kept, or is gone itself. */
  keptRest(worktree: OwnedWorktree): Promise<KeptRest | undefined>;
  /** Unfinished operations of git and loose commits in a worktree. Undefined when its branch shows everything. */
  unsettled(worktree: OwnedWorktree): Promise<Unsettled | undefined>;
  /** Why `commitRest` would not commit, without doing anything. */
  whyNotCommitRest(worktree: OwnedWorktree): Promise<RestProblem | undefined>;
  /** Commits the uncommitted rest of a worktree that has no running turn, as the user. Throws as `commitKept`. */
  commitRest(worktree: OwnedWorktree, message: string): Promise<CommittedRest>;
  /** Takes away what operations of ours left that were killed: their scratch directories, and empty records of git. */
  sweep(now: number): Promise<void>;
  /** Entries that were put into the trash before this moment, oldest first. */
  oldTrash(before: number): Promise<readonly TrashEntry[]>;
  emptyTrash(names: readonly string[]): Promise<void>;
  /** Writes the history of these refs to a file that `unbundle` reads. False when there is nothing to write. */
  bundle(file: string, refs: readonly string[]): Promise<boolean>;
  /** Brings back the refs of a bundle that are missing now; answers their names. */
  unbundle(file: string): Promise<readonly string[]>;
}
