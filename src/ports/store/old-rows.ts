/** Kinds of rows that are deleted when they are old and not needed. Each kind is one table. */
export const oldRowKinds = [
  "events",
  "turns",
  "processes",
  "transitions",
  "tokens",
  "usage",
  "spending",
  "spending-sums",
  "handoffs",
  "audit",
  "requests",
  "day-budgets",
  "merge-attempts",
  "radar-pairs",
  "radar-warnings",
] as const;
export type OldRowKind = (typeof oldRowKinds)[number];

/** The result of a look at a few of the oldest rows. */
export interface FoundRows {
  /** Keys of the rows that may be deleted. */
  readonly free: readonly string[];
  /** The last row of the look, where the next look goes on; null when no old row is left. */
  readonly last: Place | null;
}

/** Deletes rows a few at a time, oldest first. */
export interface OldRows {
  /** Looks at no more than so many rows after a place that are older than a time. Only reads. */
  look(
    kind: OldRowKind,
    where: { readonly before: number; readonly after: Place | null; readonly most: number },
  ): Promise<FoundRows>;
  /** Deletes those rows that still may be deleted. Returns their number. */
  remove(kind: OldRowKind, keys: readonly string[], before: number): Promise<number>;
  /**
   * Looks at no more than so many names after this one whose last worktree was cleaned before that time. `free`: names of
   * agents that nothing in the store needs any more, if git has their work in its target: their runs have ended, all
   * their merges have landed and stayed, they have read their mail, and their turns and snapshots are gone.
   */
  settledNames(where: { readonly before: number; readonly after: string; readonly most: number }): Promise<{
    readonly free: readonly string[];
    /** The last name of the look; null when no name is left. */
    readonly last: string | null;
  }>;
  /** Deletes the remaining rows of a name that is still one of `settledNames`. Returns the number of deleted rows. */
  forgetName(name: string, before: number): Promise<number>;
  /**
   * Shortens the records of older landings: how an entry got in goes with the entry. What moved, and when, stays. Returns
   * how many records changed.
   */
  shortenLandings(before: number): Promise<number>;
  /** Where the walk through the rows of this name stopped; null: at its beginning. */
  place(what: string): Promise<Place | null>;
  setPlace(what: string, place: Place | null): Promise<void>;
}

/** A row among rows in the order of time: those before it are older, or as old with a lesser id. */
export interface Place {
  readonly at: number;
  readonly id: string;
}

/** What a look at a few old rows found. */
export interface Looked {
  /** Rows that were deleted. */
  readonly purged: number;
  /** The last row it looked at, from where to go on; null when there are no older ones. */
  readonly last: Place | null;
}
