/** One snapshot or rescue of a worktree, as it can be found again. */
export interface SnapshotRecord {
  readonly seq: number;
  readonly agentName: string;
  readonly generation: number;
  readonly ref: string;
  readonly commitId: string;
  /** What was about to happen, or had just happened. */
  readonly reason: string;
  /** Files that were left out. */
  readonly skipped: readonly string[];
  readonly createdAt: number;
}

export interface SnapshotRows {
  /** False when the ref is recorded already; that record is left as it is. */
  add(snapshot: Omit<SnapshotRecord, "seq">): Promise<boolean>;
  /** Oldest first. */
  of(agentName: string): Promise<SnapshotRecord[]>;
  /** Snapshots, not rescues, of names whose last incarnation lost its worktree before this moment. Oldest first. */
  leftBefore(time: number): Promise<SnapshotRecord[]>;
  /** Forgets snapshots whose refs were deleted; answers how many. */
  remove(refs: readonly string[]): Promise<number>;
}

/** How much there is of what `ov clean` may delete, and deleting it where no other rows do. */
export interface CleaningRows {
  counts(): Promise<{ readonly messages: number; readonly usage: number }>;
  /** Deletes what turns have used; the budgets' own sums stay. Answers how many rows. */
  wipeUsage(): Promise<number>;
}
