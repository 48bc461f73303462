import { kept } from "./amount.ts";
import { type Amounts, type BudgetSettings, budgetUnits, type Ledger } from "./budget.ts";

/** Spent so far, in the ledgers' whole numbers; `turns` says over how many turns. */
export type Spent = Amounts;

/**
 * What the next turn will take: the average of the agent's own turns, else of the turns of its capability, else what is
 * configured. A runtime that never tells its cost so comes to expect none, and the other units are what bounds it.
 */
export function estimateTurn(own: Spent, capability: Spent, { estimate }: Pick<BudgetSettings, "estimate">): Amounts {
  const seen = [own, capability].find((history) => history.turns > 0);
  if (seen !== undefined) return average(seen);
  return {
    usd: kept("usd", estimate.usd),
    tokens: kept("tokens", estimate.tokens),
    turns: 1,
    minutes: kept("minutes", estimate.minutes),
  };
}

/** What the ledgers of one subject say was spent. */
export function spentOf(ledgers: readonly Pick<Ledger, "unit" | "spent">[]): Spent {
  const spent = { usd: 0, tokens: 0, turns: 0, minutes: 0 };
  for (const ledger of ledgers) spent[ledger.unit] += ledger.spent;
  return spent;
}

function average(spent: Spent): Amounts {
  const each = { usd: 0, tokens: 0, turns: 1, minutes: 0 };
  for (const unit of budgetUnits) each[unit] = Math.ceil(spent[unit] / spent.turns);
  return each;
}
