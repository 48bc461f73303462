import type { Tx } from "../../ports/store.ts";
import { type Lifted, liftBudgetWaits } from "./lift-waits.ts";
import { giveBack } from "./release-reservation.ts";
import type { BudgetTerms } from "./terms.ts";

/**
 * For the engine's start (limits may have been edited) and for `nextAt` (a day ends): gives back what turns set aside
 * that will never be settled, and lets go on who has room.
 */
export async function recheckBudgets(tx: Tx, terms: BudgetTerms): Promise<Lifted> {
  for (const turnId of await tx.budgets.abandoned()) await giveBack(tx, turnId, terms.now);
  return liftBudgetWaits(tx, terms);
}
