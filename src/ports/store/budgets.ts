import type { Capability } from "../../domain/agent/capability.ts";
import type { BudgetSubject, Ledger, LedgerChange, LedgerKey, Reservation } from "../../domain/budget/budget.ts";
import type { Spent } from "../../domain/budget/estimate.ts";
import type { Usage } from "../../domain/budget/usage.ts";
import type { Wait } from "./waits.ts";

export interface BudgetRows {
  list(): Promise<Ledger[]>;
  /** The ledgers of these subjects; those never touched are absent. */
  of(subjects: readonly BudgetSubject[]): Promise<Ledger[]>;
  /** Adds to the ledgers, making those that are not there. Each ledger at most once per call. */
  book(changes: readonly LedgerChange[], now: number): Promise<void>;
  /** Gives the subject a limit of its own; the next crossing warns again. */
  give(key: LedgerKey, amount: number, now: number): Promise<void>;
  /** Adds to the limit; the next crossing warns again. */
  raise(key: LedgerKey, amount: number, now: number): Promise<void>;
  /** Notes that the warning was given. False when it already was. */
  warn(key: LedgerKey, now: number): Promise<boolean>;
  /** Notes what a turn has set aside. */
  hold(turnId: string, reservations: readonly Omit<Reservation, "turnId">[]): Promise<void>;
  isHeld(turnId: string): Promise<boolean>;
  /** What the turn has set aside. */
  heldBy(turnId: string): Promise<Reservation[]>;
  /** Removes and returns what the turn had set aside: empty for all but the first who asks. */
  take(turnId: string): Promise<Reservation[]>;
  /** What all agents that ever had the capability have spent. */
  spentBy(capability: Capability): Promise<Spent>;
  /** Who waits for a budget, longest first. */
  waiting(): Promise<Wait[]>;
  /** Turns that set something aside and will never be settled: cancelled, or gone. */
  abandoned(): Promise<string[]>;
}

export interface UsageRows {
  /** Adds a message's tokens; of one reported again the larger numbers stay. */
  record(usage: Usage): Promise<void>;
  ofTurn(turnId: string): Promise<Usage[]>;
}
