import { dollars } from "../../../../domain/budget/amount.ts";
import type { BudgetUnit } from "../../../../domain/budget/budget.ts";

/**
 * A number under a heading that names its unit: dollars to the cent, finer below a dollar; minutes to a tenth; other
 * units whole.
 */
export function amount(unit: BudgetUnit, value: number): string {
  switch (unit) {
    case "usd":
      return dollars(value);
    case "minutes":
      return value.toFixed(1);
    case "tokens":
    case "turns":
      return String(Math.round(value));
  }
}
