import { inWords, type LedgerKey } from "./budget.ts";

/**
 * Whether a limit in dollars can hold while a turn runs. `held`: the program keeps it, or tells what each answer took and
 * that has a price. `at-end`: the program tells its tokens only when a turn is over. `unpriced`: nothing has the price of the
 * model. `no-model`: the program chooses its model, so that the price is not known before the turn.
 */
export type DollarWatch = "held" | "at-end" | "unpriced" | "no-model";

/** What a driver lets us know of the cost of a turn. */
interface CostSigns {
  /** The program ends a turn by itself when it has cost as much as it may. */
  readonly costLimit: boolean;
  /** When it tells the tokens of its model: after each answer, or at the end of the turn. */
  readonly tokens: "answer" | "turn";
}

export function dollarWatch(
  { costLimit, tokens }: CostSigns,
  { model, hasPrice }: { readonly model: string | null; readonly hasPrice: boolean },
): DollarWatch {
  if (costLimit) return "held";
  if (model === null) return tokens === "turn" ? "at-end" : "no-model";
  if (!hasPrice) return "unpriced";
  return tokens === "turn" ? "at-end" : "held";
}

/** What the operator should know about a limit in dollars before the agent starts; undefined when the limit holds. */
export function dollarNote(
  watch: DollarWatch,
  { runtime, model }: { readonly runtime: string; readonly model: string | null },
  { scope, subject, limit }: Omit<LedgerKey, "unit"> & { readonly limit: number },
): string | undefined {
  const what = `the limit of ${inWords("usd", limit)} for ${scope} ${subject}`;
  const instead = `a limit of minutes holds: ov config set budgets.${scope}.minutes <n>`;
  switch (watch) {
    case "held":
      return undefined;
    case "at-end":
      return `${what} is n/a during a turn: ${runtime} tells its tokens when a turn has ended, so a turn can cost more; ${instead}`;
    case "unpriced":
      return `${what} is n/a unless ${runtime} tells a cost: the list of prices has no ${model} (ov prices show); ${instead}`;
    case "no-model":
      return `${what} is n/a during a turn unless ${runtime} tells a cost: its model is not chosen, so its price is not known; choose one with --model`;
  }
}
