import type { Spending, SpendingDimension, SpendingStep, SpendingSum } from "../../domain/cost/spending.ts";

/** Which rows count. Every field that is given narrows them. */
export interface SpendingFilter {
  readonly agentName?: string | undefined;
  readonly runId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly capability?: string | undefined;
  readonly runtime?: string | undefined;
  /** The turn or session ended at this moment or later; at this moment or earlier. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

/** What turns and sessions of people used and cost, and the sums of it. */
export interface SpendingRows {
  /** Puts the rows of one source in place of those that it had, and brings every sum up to date. */
  book(rows: readonly Spending[]): Promise<void>;
  ofSource(source: string): Promise<Spending[]>;
  /** The newest row of an incarnation; undefined before its first turn has settled. */
  newestOf(agentId: string): Promise<Spending | undefined>;
  /** The sums of the so many subjects that were active last, newest first. Without a filter it reads no more than these. */
  sums(dimension: SpendingDimension, filter: SpendingFilter, last: number): Promise<SpendingSum[]>;
  /** The dollars of each subject in each step of this many milliseconds in which something of it ended. */
  steps(dimension: SpendingDimension, filter: SpendingFilter, stepMs: number): Promise<SpendingStep[]>;
  /** The sums of these subjects, in any order. */
  sumsOf(dimension: SpendingDimension, keys: readonly string[]): Promise<SpendingSum[]>;
}
