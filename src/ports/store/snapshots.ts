import type { ProcessIdentity } from "../../domain/process/process.ts";

/** One snapshot or rescue of a worktree, as it can be found again. */
export interface SnapshotRecord {
  readonly seq: number;
  readonly agentName: string;
  readonly generation: number;
  readonly ref: string;
  readonly commitId: string;
  /** The step before or after which the snapshot was taken. */
  readonly reason: string;
  /** Files that were left out. */
  readonly skipped: readonly string[];
  readonly createdAt: number;
}

/** Snapshots of worktrees: one row for each ref. */
export interface SnapshotRows {
  /** False when the ref is recorded already; that record is left as it is. */
  add(snapshot: Omit<SnapshotRecord, "seq">): Promise<boolean>;
  all(): Promise<SnapshotRecord[]>;
  /** Oldest first. */
  of(agentName: string): Promise<SnapshotRecord[]>;
  /** Snapshots, not rescues, of names whose last incarnation lost its worktree before this moment. Oldest first. */
  leftBefore(time: number): Promise<SnapshotRecord[]>;
  /** Forgets snapshots whose refs were deleted; answers how many. */
  remove(refs: readonly string[]): Promise<number>;
}

/** A process that takes the worktree of an agent away, or everything (`everyAgent`) in `ov clean`. */
export interface RemovalRecord extends ProcessIdentity {
  readonly agentName: string;
  readonly createdAt: number;
}

/** Stands for every agent; no agent can have this name. */
export const everyAgent = "*";

/**
 * Removals under way. No agent is seated under a name while its removal is on record and the process of it lives; and a
 * removal is put on record only in a transaction that finds no live agent of the name.
 */
export interface RemovalRows {
  /** Replaces an earlier record of the name. */
  begin(removal: RemovalRecord): Promise<void>;
  /** The removal of this name. */
  of(agentName: string): Promise<RemovalRecord | undefined>;
  /** Nothing when another process has taken it over. */
  end(agentName: string, process: ProcessIdentity): Promise<void>;
}

/** How much there is of what `ov clean` may delete, and deleting it where no other rows do. */
export interface CleaningRows {
  counts(): Promise<{ readonly messages: number; readonly usage: number; readonly events: number }>;
  /** Deletes what turns have used; the budgets' own sums stay. Answers how many rows. */
  wipeUsage(): Promise<number>;
  /** Deletes the events, except those that tell of a cleaning. Answers how many. */
  wipeEvents(): Promise<number>;
}
