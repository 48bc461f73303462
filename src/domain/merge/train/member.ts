import type { CauseDetail, MergeCause, MergeEntry, ResolutionTier } from "../entry.ts";

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

/** What is known about the tree that lands. */
export interface Evidence {
  /** False: it is the tree that was on the branch already, so no gate was asked. */
  readonly checked: boolean;
  /** A gate failed on it first and passed then. */
  readonly flaky: boolean;
  /** Why it is not fully verified, one sentence each. */
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
 * waiting   an entry it depends on did not land
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
  | { readonly kind: "stopped"; readonly cause: MergeCause; readonly detail: CauseDetail }
  | { readonly kind: "blocked"; readonly cause: MergeCause; readonly detail: CauseDetail }
  | { readonly kind: "waiting"; readonly on: readonly number[] };
