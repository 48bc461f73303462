import { nothing, settled } from "../../domain/budget/ledger.ts";
import type { Tx } from "../../ports/store.ts";
import { liftBudgetWaits } from "./lift-waits.ts";
import type { BudgetTerms } from "./terms.ts";

/**
 * Gives back what a turn set aside that will not run after all; who waited for it goes on. Harmless for a turn that was
 * settled or never reserved.
 */
export async function releaseReservation(tx: Tx, turnId: string, terms: BudgetTerms): Promise<void> {
  if (await giveBack(tx, turnId, terms.now)) await liftBudgetWaits(tx, terms);
}

/** The same, leaving those who wait to the caller. False when the turn has nothing set aside. */
export async function giveBack(tx: Tx, turnId: string, now: number): Promise<boolean> {
  const reservations = await tx.budgets.take(turnId);
  await tx.budgets.book(settled(reservations, nothing), now);
  return reservations.length > 0;
}
