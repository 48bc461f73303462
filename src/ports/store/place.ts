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
