import type { BudgetUnit } from "./budget.ts";

/** Dollars are kept as millionths and minutes as milliseconds, so that sums are exact. */
const parts: Readonly<Record<BudgetUnit, number>> = { usd: 1_000_000, tokens: 1, turns: 1, minutes: 60_000 };

/** The most anybody may write, so that even a hundred of them are an exact sum. */
export const mostAmount: Readonly<Record<BudgetUnit, number>> = {
  usd: 10_000_000,
  tokens: 1_000_000_000_000,
  turns: 1_000_000_000,
  minutes: 1_000_000_000,
};

/** Units of which there is no half. */
export const isWhole = (unit: BudgetUnit): boolean => parts[unit] === 1;

/** As ledgers keep it. What no counter can mean (a negative or unreal number a runtime reported) counts as nothing. */
export function kept(unit: BudgetUnit, amount: number): number {
  return Number.isFinite(amount) && amount > 0 ? Math.round(Math.min(amount, mostAmount[unit]) * parts[unit]) : 0;
}

/** As people read and write it. */
export const shown = (unit: BudgetUnit, amount: number): number => amount / parts[unit];

/** With its unit: `$1.50`, `90000 tokens`, `1 turn`, `2.5 minutes`. */
export function inWords(unit: BudgetUnit, amount: number): string {
  const value = shown(unit, amount);
  if (unit === "usd") return `$${dollars(value)}`;
  const rounded = Math.round(value * 10) / 10;
  return `${rounded} ${rounded === 1 ? unit.slice(0, -1) : unit}`;
}

/** Dollars to the cent. An amount below a dollar gets the digits that cents would cut off. */
export function dollars(value: number): string {
  const digits = value >= 1 ? 2 : value >= 0.01 ? 4 : 6;
  return value.toFixed(digits).replace(/(\.\d\d\d*?)0+$/, "$1");
}
