import { inWords } from "../budget/budget.ts";
import type { Allowance } from "../budget/ledger.ts";
import { countedTokens, type TokenCounts } from "../budget/usage.ts";
import { type PriceList, turnCost } from "../prices/prices.ts";
import type { TurnEvent } from "./turn-event.ts";

type Answer = TokenCounts & { readonly messageId: string; readonly model: string | null };

export interface SpendingTerms {
  /** What the turn may take of each budget. */
  readonly allowance: Allowance;
  /** The model of answers that name none. */
  readonly model: string | null;
  /** When the turn began, ms UTC: the prices of that day count. */
  readonly at: number;
  /** Null where the program was told its limit in dollars and keeps it by itself. */
  readonly prices: PriceList | null;
  /** What an earlier supervisor of the turn has stored. */
  readonly earlier: readonly Answer[];
}

/** What a turn has taken by now. */
interface Taken {
  readonly events: readonly TurnEvent[];
  /** The program's own word about its cost so far; null without one. */
  readonly reportedUsd: number | null;
  readonly elapsedMs: number;
}

/**
 * Says in words when a turn has taken more of a budget than it may. Dollars are counted as they will be settled: by the
 * program's own sum, else by the list of prices. A model without a price is not counted.
 */
export function watchSpending(terms: SpendingTerms): { overrun(taken: Taken): string | undefined } {
  const { allowance, model, at, prices } = terms;
  const answers = new Map(terms.earlier.map((answer) => [answer.messageId, answer]));
  const over = (unit: "usd" | "tokens" | "minutes", taken: number, by = ""): string | undefined => {
    const most = allowance[unit];
    if (most === undefined || taken <= most) return undefined;
    return `it took ${inWords(unit, taken)}${by}, and ${inWords(unit, most)} were left`;
  };
  const dollars = (reportedUsd: number | null): string | undefined => {
    if (prices === null || allowance.usd === undefined) return undefined;
    const cost = turnCost({ reportedUsd, answers: [...answers.values()], model, at, list: prices });
    return over("usd", cost.costMicros ?? 0, cost.costSource === "prices" ? " by the list of prices" : "");
  };
  return {
    overrun: ({ events, reportedUsd, elapsedMs }) => {
      for (const event of events) if (event.kind === "usage") answers.set(event.messageId, event);
      const hasNews = events.some(({ kind }) => kind === "usage" || kind === "cost");
      const spent = hasNews ? (over("tokens", countedTokens(answers.values())) ?? dollars(reportedUsd)) : undefined;
      return spent ?? over("minutes", elapsedMs);
    },
  };
}
