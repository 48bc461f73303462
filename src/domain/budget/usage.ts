import { type Amounts, type BudgetSettings, budgetUnits, kept, type Ledger } from "./budget.ts";

/** The tokens of one answer of a model, as its runtime reported them. One row per turn and message. */
export interface Usage {
  readonly turnId: string;
  readonly messageId: string;
  readonly agentName: string;
  readonly runId: string;
  readonly taskId: string | null;
  readonly model: string | null;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly createdAt: number;
}

export type TokenCounts = Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite">;

export const noTokens: TokenCounts = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** The four counts alone, of a value that has more fields. */
export const tokensOf = ({ input, output, cacheRead, cacheWrite }: TokenCounts): TokenCounts => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

/**
 * The tokens that count against a budget. Tokens read from a cache are not new: each request of a long turn reads them
 * again.
 */
export const countedTokens = (counts: Iterable<TokenCounts>): number => {
  let tokens = 0;
  for (const { input, output, cacheWrite } of counts) tokens += input + output + cacheWrite;
  return tokens;
};

/** Spent so far, in the ledgers' whole numbers; `turns` says over how many turns. */
export type Spent = Amounts;

/**
 * The likely cost of the next turn: the average of the agent's own turns, else of its capability's turns, else the
 * configured estimate. For a runtime that never reports dollars the estimate becomes zero, and the other units limit
 * it.
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
