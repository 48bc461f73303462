import type { Place } from "./place.ts";

/** Rows that go when they are old enough and nothing needs them any more. Each kind is one table. */
export const oldRowKinds = [
  "events",
  "turns",
  "processes",
  "transitions",
  "tokens",
  "usage",
  "handoffs",
  "audit",
  "requests",
  "day-budgets",
  "merge-attempts",
  "radar-pairs",
  "radar-warnings",
] as const;
export type OldRowKind = (typeof oldRowKinds)[number];

/** What a look at a few of the oldest rows found. */
export interface FoundRows {
  /** Keys of the rows that may go. */
  readonly free: readonly string[];
  /** The last row it looked at, from where to go on; null when all that are left are too young. */
  readonly last: Place | null;
}

/** Letting go of rows a few at a time, oldest first. */
export interface OldRows {
  /** Looks at no more than so many rows after a place that are older than a time. Reads only. */
  look(
    kind: OldRowKind,
    where: { readonly before: number; readonly after: Place | null; readonly most: number },
  ): Promise<FoundRows>;
  /** Deletes those of them that still may go; answers how many rows. */
  remove(kind: OldRowKind, keys: readonly string[], before: number): Promise<number>;
  /** How far something was looked through; null: from its beginning. */
  place(what: string): Promise<Place | null>;
  setPlace(what: string, place: Place | null): Promise<void>;
}
