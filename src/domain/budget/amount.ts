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
  if (unit === "usd") return dollars(value);
  const rounded = Math.round(value * 10) / 10;
  return `${rounded} ${rounded === 1 ? unit.slice(0, -1) : unit}`;
}

/** Cents, and more digits only where cents would show nothing. */
function dollars(value: number): string {
  return `$${value === 0 || value >= 0.01 ? value.toFixed(2) : value.toFixed(6).replace(/0+$/, "")}`;
}
