import { emptyLedger, type Ledger, type LedgerKey } from "../../domain/budget/budget.ts";
import type { Tx } from "../../ports/store.ts";

/** The ledger as it stands; an empty one when nothing was ever booked on it. */
export async function findLedger(tx: Tx, key: LedgerKey): Promise<Ledger> {
  const ledgers = await tx.budgets.of([key]);
  return ledgers.find(({ unit }) => unit === key.unit) ?? emptyLedger(key);
}
