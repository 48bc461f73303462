/** What the operator was notified of: each thing that waits for them, by its key, once and for ever. */
export interface NotificationRows {
  /** Those of these things that are on record. */
  known(items: readonly string[]): Promise<ReadonlySet<string>>;
  /** Puts them on record before they are told. None of them may be on record. */
  claim(items: readonly string[], now: number): Promise<void>;
  /** They were told, or that has failed. */
  settle(items: readonly string[], now: number): Promise<void>;
  /** The things that were claimed and never settled. */
  unsettled(): Promise<readonly string[]>;
  /** The things that were settled before a time, oldest first, at most so many. */
  settledBefore(time: number, most: number): Promise<readonly string[]>;
  remove(items: readonly string[]): Promise<number>;
}
