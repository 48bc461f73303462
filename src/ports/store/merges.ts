import type { MergeAttempt } from "../../domain/merge/attempt.ts";
import type { Approval, MergeEntry, MergeStatus } from "../../domain/merge/entry.ts";
import type { MergeOp, MergeOpKind, MergeOpStatus } from "../../domain/merge/operation.ts";

export interface MergeFilter {
  readonly statuses?: readonly MergeStatus[];
  readonly approval?: Approval;
  readonly branch?: string;
  readonly taskId?: string;
  readonly runId?: string;
  /** The newest so many. */
  readonly limit?: number;
}

export interface MergeRows {
  /** Adds an entry and returns its number. Fails when an open one has the same branch and target. */
  insert(entry: Omit<MergeEntry, "id">): Promise<number>;
  get(id: number): Promise<MergeEntry | undefined>;
  /** The one that holds the place of the branch. */
  openOf(branch: string, targetBranch: string): Promise<MergeEntry | undefined>;
  /** In the order of their numbers. */
  list(filter: MergeFilter): Promise<MergeEntry[]>;
  /** Changes an entry that has one of these statuses. False when it has another by now: nothing was changed. */
  change(id: number, from: readonly MergeStatus[], change: Partial<Omit<MergeEntry, "id">>): Promise<boolean>;
  /**
   * Something waits for the merge worker: an entry that is being worked on or could be, by these approvals and with all
   * it depends on merged, or an operation that is intended.
   */
  dueWork(now: number, approvals: readonly Approval[]): Promise<boolean>;
  /** The earliest future moment at which an entry with one of these approvals may be tried. */
  nextDue(now: number, approvals: readonly Approval[]): Promise<number | undefined>;
}

export interface MergeAttemptRows {
  insert(attempt: MergeAttempt): Promise<void>;
  get(id: string): Promise<MergeAttempt | undefined>;
  change(id: string, change: Partial<Omit<MergeAttempt, "id">>): Promise<void>;
  /** Attempts with this entry, oldest first. */
  of(queueId: number): Promise<MergeAttempt[]>;
  /** Attempts that were never finished, oldest first. */
  unfinished(): Promise<MergeAttempt[]>;
}

export interface MergeOpFilter {
  readonly kind?: MergeOpKind;
  readonly status?: MergeOpStatus;
  readonly ref?: string;
  /** Operations with this entry. */
  readonly queueId?: number;
  readonly limit?: number;
}

export interface MergeOpRows {
  insert(op: Omit<MergeOp, "seq">): Promise<void>;
  get(id: string): Promise<MergeOp | undefined>;
  /** Newest first. */
  list(filter: MergeOpFilter): Promise<MergeOp[]>;
  /** Changes an operation that is still intended. False when it was settled before: nothing was changed. */
  settle(id: string, change: Partial<Omit<MergeOp, "seq" | "id">>): Promise<boolean>;
  /** Notes which operation took this one back; null when that was taken back itself. */
  setUndoneBy(id: string, undoneBy: string | null, now: number): Promise<void>;
}
