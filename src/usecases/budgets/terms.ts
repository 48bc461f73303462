import type { BudgetSettings } from "../../domain/budget/budget.ts";
import type { Ids } from "../../ports/ids.ts";

/** Under which limits, and when, a ledger is looked at. */
export interface BudgetTerms {
  readonly limits: BudgetSettings;
  readonly ids: Ids;
  readonly now: number;
}
