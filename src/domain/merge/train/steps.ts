import type { CauseDetail, MergeCause, ResolutionTier } from "../entry.ts";
import type { EntryOutcome, Landing, Tip, TrainEntry } from "./member.ts";

/** `merged` with the commit it was merged onto: the branch was in there already. */
export type MergeAnswer =
  | ({ readonly kind: "merged"; readonly tier: ResolutionTier; readonly strategy: string | null } & Tip)
  | { readonly kind: "stopped"; readonly cause: MergeCause; readonly detail: CauseDetail };

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
  /** Run again what failed on this tree, whatever is on record about it. */
  readonly rerunFailed?: boolean;
}

export interface CheckAnswer {
  /** No required gate failed. */
  readonly passed: boolean;
  readonly flaky?: boolean;
  /** Every required gate that failed, at least one when not passed: one that is not named counts as having passed. */
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
  /** Makes a commit out of `onto` and the entry as objects, by whatever means of resolving there are. */
  merge(onto: string, entry: E): Promise<MergeAnswer>;
  check(commit: string, tree: string, request: CheckRequest): Promise<CheckAnswer>;
  /** One compare-and-swap of the landing branch from `landing.from` to `landing.to`. */
  land(landing: Landing<E>): Promise<LandAnswer>;
  /** Awaited, so that an outcome can be recorded as soon as it is known. */
  onProgress?(progress: TrainProgress<E>): void | Promise<void>;
}
