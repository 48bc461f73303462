import type { CauseDetail, MergeCause, MergeEntry, ResolutionTier } from "../../../domain/merge/entry.ts";

/**
 * merged   with the commit it was merged onto: the branch was in there already
 * stopped  the branch must change before it can be merged
 * blocked  nothing is known to be wrong with the branch; to be tried again later
 * waiting  the operator has been asked about it
 * later    the operator would be asked about it, but only if everything before it lands, which is not known yet
 */
export type MergeAnswer =
  | ({ readonly kind: "merged"; readonly tier: ResolutionTier; readonly strategy: string | null } & Tip)
  | { readonly kind: "stopped" | "blocked"; readonly cause: MergeCause; readonly detail: CauseDetail }
  | { readonly kind: "waiting" }
  | { readonly kind: "later" };

/**
 * train     the whole train
 * flaky     once more, on a tree on which gates failed
 * baseline  what the train was built on
 * bisect    a prefix of the train
 */
export const checkPurposes = ["train", "flaky", "baseline", "bisect"] as const;
export type CheckPurpose = (typeof checkPurposes)[number];

export interface CheckRequest {
  readonly purpose: CheckPurpose;
  /** The commit the train was built on: what changed, and so which gates apply, is measured from here. */
  readonly base: string;
  /** The gates to ask, whether or not they apply. Absent: every gate that applies. */
  readonly gates?: readonly string[];
  /** Run failed gates of this tree again, even if their results are stored. */
  readonly rerunFailed?: boolean;
}

export interface CheckAnswer {
  /** No required gate failed. */
  readonly passed: boolean;
  readonly flaky?: boolean;
  /** Every required gate that failed: at least one when the tree did not pass. A gate that is not named passed. */
  readonly failedGates: readonly string[];
  /** The gates this answer speaks about. Absent: all that exist, or all that were asked for by name. */
  readonly ran?: readonly string[];
  /** About the first failure. */
  readonly detail: CauseDetail;
  /** About each failure, by gate, where there is more than one. */
  readonly details?: ReadonlyMap<string, CauseDetail>;
}

/** `refused`: the branch is where it was expected, but may not be moved now; nothing changed. */
export type LandAnswer =
  | { readonly kind: "landed" }
  | { readonly kind: "moved"; readonly tip: Tip }
  | { readonly kind: "refused"; readonly cause: MergeCause; readonly detail: CauseDetail };

export type TrainProgress<E extends TrainEntry> =
  | { readonly kind: "assembled"; readonly base: Tip; readonly members: readonly E[] }
  | { readonly kind: "checking"; readonly tip: Tip; readonly request: CheckRequest }
  | { readonly kind: "checked"; readonly tip: Tip; readonly request: CheckRequest; readonly answer: CheckAnswer }
  | { readonly kind: "moved"; readonly tip: Tip }
  | { readonly kind: "settled"; readonly entry: E; readonly outcome: EntryOutcome };

/** The effects of a train. Each may be repeated; a rejection of any of them ends the train where it is. */
export interface TrainSteps<E extends TrainEntry> {
  /**
   * Merges the entry onto `onto` as objects, with every resolver that is configured. `mayAsk`: `onto` has landed, so
   * the operator can be asked about the result.
   */
  merge(onto: string, entry: E, mayAsk: boolean): Promise<MergeAnswer>;
  check(commit: string, tree: string, request: CheckRequest): Promise<CheckAnswer>;
  /** One compare-and-swap of the landing branch from `landing.from` to `landing.to`. */
  land(landing: Landing<E>): Promise<LandAnswer>;
  /** Awaited, so that an outcome can be recorded as soon as it is known. */
  onProgress?(progress: TrainProgress<E>): void | Promise<void>;
}

/** What a train needs to know about an entry; callers bring their own richer ones and get them back. */
export type TrainEntry = Pick<MergeEntry, "id" | "branch" | "dependsOn">;

/** A commit and the tree it holds. */
export interface Tip {
  readonly commit: string;
  readonly tree: string;
}

/** An entry in a train, with the commit that holds it and everything before it. */
export interface Member<E extends TrainEntry> {
  readonly entry: E;
  readonly tip: Tip;
  readonly tier: ResolutionTier;
  readonly strategy: string | null;
}

/** The evidence about the tree that lands. */
export interface Evidence {
  /** False: it is the tree that was on the branch already, so no gate was asked. */
  readonly checked: boolean;
  /** A gate failed on it first and passed then. */
  readonly flaky: boolean;
  /** Why the tree is not fully verified, one sentence each. */
  readonly gaps: readonly string[];
}

/** One move of the landing branch. */
export interface Landing<E extends TrainEntry> extends Evidence {
  readonly from: Tip;
  readonly to: Tip;
  readonly members: readonly Member<E>[];
}

/**
 * landed    in; `landing` is its index in the report, null when the branch held it already
 * rejected  gates fail with it that do not fail without it; `onto` is what it was tried on, `with` the ids of the
 *           members of its train in there
 * stopped   could not be merged with what landed before it
 * blocked   nothing is known to be wrong with it; to be tried again later
 * waiting   an entry it depends on did not land, or the operator was asked about it
 */
export type EntryOutcome =
  | ({
      readonly kind: "landed";
      readonly landing: number | null;
      readonly tier: ResolutionTier;
      readonly strategy: string | null;
    } & Tip &
      Evidence)
  | {
      readonly kind: "rejected";
      readonly cause: "gate_failed";
      readonly gates: readonly string[];
      readonly detail: CauseDetail;
      readonly onto: Tip;
      readonly with: readonly number[];
    }
  | { readonly kind: "stopped" | "blocked"; readonly cause: MergeCause; readonly detail: CauseDetail }
  | { readonly kind: "waiting"; readonly on: readonly number[] };
