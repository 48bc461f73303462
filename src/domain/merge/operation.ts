import type { ResolutionTier, Verdict } from "./entry.ts";

/**
 * land, undo, promote  the operations that a user knows by these names
 * begin                a landing branch of ours was made, or follows its target before work lands on it
 * accept               the operator decided that foreign commits on a landing branch count as landed
 * restore              a landing branch that was moved by hand goes back to where we left it; with `dropped`, the
 *                      commits that were taken out of its target are left out of it too
 */
export const mergeOpKinds = ["land", "undo", "promote", "begin", "accept", "restore"] as const;
export type MergeOpKind = (typeof mergeOpKinds)[number];

/**
 * intended  written before the ref is moved; the next engine looks at the ref to learn whether it was
 * done      the ref was moved
 * dropped   the ref was not moved, and will not be
 */
export const mergeOpStatuses = ["intended", "done", "dropped"] as const;
export type MergeOpStatus = (typeof mergeOpStatuses)[number];

/** One move of a landing branch, as it can be looked up and taken back. */
export interface MergeOp {
  /** Order of the log. */
  readonly seq: number;
  readonly id: string;
  readonly kind: MergeOpKind;
  /** The ref that moves, whole: `refs/heads/main`. */
  readonly ref: string;
  /** Null before the first look. */
  readonly beforeCommit: string | null;
  readonly afterCommit: string | null;
  /** The entries it lands, or takes back. */
  readonly queueIds: readonly number[];
  readonly actor: string;
  readonly status: MergeOpStatus;
  /** The operation that an undo takes back. */
  readonly undoes: string | null;
  readonly undoneBy: string | null;
  readonly request: MergeOpRequest;
  /** Why it was dropped; while it is intended, why the last try failed. */
  readonly problem: string | null;
  readonly createdAt: number;
  /** When it was done or dropped; while it is intended, the last try. What takes it back does not change it. */
  readonly updatedAt: number;
}

/**
 * Was one of two operations that are over done after the other? Their order in the log is that in which they were asked
 * for: what a promotion or an undo had to wait for stands behind it there, and was done before it.
 */
export const wasLater = (op: MergeOp, other: MergeOp): boolean =>
  op.updatedAt === other.updatedAt ? op.seq > other.seq : op.updatedAt > other.updatedAt;

export const promoteCauses = [
  "local_changes",
  "gate_failed",
  "locked",
  "foreign_tip",
  "rewritten_target",
  "disk_full",
  "conflict",
] as const;
export type PromoteCause = (typeof promoteCauses)[number];

/** Wishes beyond the move itself. */
export interface MergeOpRequest {
  /** Undo: the branches go back into the queue. */
  readonly requeue?: boolean;
  /** Promote: whose landing branch becomes part of which target. */
  readonly runId?: string;
  readonly landing?: string;
  readonly target?: string;
  /** Begin, accept, restore: the commit of `target` that the landing branch rests on from then on. */
  readonly base?: string;
  /** Restore: the commit that was taken out of `target`. Later landings are replayed without it. */
  readonly dropped?: string;
  /** The tip of the landing branch when its work could not be replayed onto `base`. */
  readonly tip?: string;
  /** Promote: no person asked at this moment, so a checkout with uncommitted changes is left alone. */
  readonly onlyIfClean?: boolean;
  /** Promote, undo: what kept it from happening, for programs; `problem` has the words. */
  readonly cause?: PromoteCause;
  /** Promote, undo: lock files of git that were removed, because no living process could hold them. */
  readonly removedLocks?: readonly string[];
  /** Land: how each entry got in, so that an engine that finds the ref moved can record it. */
  readonly members?: readonly LandedMember[];
  /** Land: entries whose branches these hold. */
  readonly along?: readonly LandedAlong[];
  /** Land: branches that these hold, and that were never put into the queue. */
  readonly joined?: readonly JoinedBranch[];
  /** Land: entries whose commits come in with these, without all of their changes. */
  readonly leftOut?: readonly Pick<LandedAlong, "id" | "head">[];
  readonly verdict?: Verdict;
  readonly gaps?: readonly string[];
  /** Land: ids of the gate results that speak for the tree. */
  readonly results?: readonly string[];
  /** Land, undo: the tree of `afterCommit`. */
  readonly tree?: string;
  /** Undo: the commit that takes back each of `queueIds`, in their order. Empty when the ref simply went back. */
  readonly commits?: readonly string[];
}

export interface LandedMember {
  readonly id: number;
  /** The merge commit of this entry alone. */
  readonly commit: string;
  readonly tier: ResolutionTier;
  readonly strategy: string | null;
}

/** A branch that came in as part of another one, and has no entry of its own. It gets one when the landing is recorded. */
export interface JoinedBranch extends Omit<LandedAlong, "id"> {
  readonly branch: string;
}

/** An entry that came in as part of another one's branch; `commit` is the merge commit of that other. */
export interface LandedAlong extends LandedMember {
  /** The tip of its branch, which may be newer than the announced commit. */
  readonly head: string;
}
