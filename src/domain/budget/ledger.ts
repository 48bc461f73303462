import { no, ok, type Result } from "../result.ts";
import {
  type Amounts,
  type BudgetSettings,
  type BudgetUnit,
  kept,
  type Ledger,
  type LedgerChange,
  type LedgerKey,
  type Reservation,
} from "./budget.ts";

/** Why a turn may not start: what the ledger says, and what the turn would have set aside. */
export interface Exceeded extends LedgerKey {
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly wanted: number;
}

/** The limit that was given to the subject itself, else the configured limit, plus all raises; undefined without a limit. */
export function limitOf(
  settings: BudgetSettings,
  ledger: LedgerKey & Pick<Ledger, "given" | "raised">,
): number | undefined {
  const basis = ledger.given ?? kept(ledger.unit, settings[ledger.scope][ledger.unit]);
  return basis === 0 ? undefined : basis + ledger.raised;
}

type Balance = Pick<Ledger, "spent" | "reserved">;

/** Only a higher limit (or the next day) helps. */
export const isExhausted = ({ spent }: Pick<Ledger, "spent">, limit: number | undefined): boolean =>
  limit !== undefined && spent >= limit;

/** Something is left that no running turn has set aside. */
export const hasRoom = ({ spent, reserved }: Balance, limit: number | undefined): boolean =>
  limit === undefined || spent + reserved < limit;

/** Crossed for the first time since the limit was raised: the operator should know before anything stops. */
export const shouldWarn = (ledger: Pick<Ledger, "spent" | "warned">, limit: number | undefined): boolean =>
  limit !== undefined && !ledger.warned && isNearLimit(ledger, limit);

/** Most of it is spent. */
export const isNearLimit = ({ spent }: Pick<Ledger, "spent">, limit: number): boolean =>
  spent * 100 >= limit * warnPercent;

const warnPercent = 80;

export const percentOf = (spent: number, limit: number): number =>
  limit === 0 ? 100 : Math.floor((spent / limit) * 100);

/**
 * Sets the estimate aside in every ledger, or says which one does not allow it. After a yes no limited ledger has more
 * spent and reserved than its limit. A ledger without other running turns gives all that it has left, even less than the
 * estimate: otherwise a small budget, or the last part of a large one, could never be used. Of several ledgers that refuse,
 * an exhausted one is named first: the reservations of running turns come free by themselves.
 */
export function reserve(
  settings: BudgetSettings,
  ledgers: readonly Ledger[],
  estimate: Amounts,
): Result<readonly Omit<Reservation, "turnId">[], Exceeded> {
  const held: Omit<Reservation, "turnId">[] = [];
  const exceeded: Exceeded[] = [];
  for (const ledger of ledgers) {
    const { scope, subject, unit, spent, reserved } = ledger;
    const limit = limitOf(settings, ledger);
    const wanted = estimate[unit];
    if (limit === undefined) held.push({ scope, subject, unit, amount: wanted });
    else if (isExhausted(ledger, limit) || (reserved > 0 && spent + reserved + wanted > limit)) {
      exceeded.push({ scope, subject, unit, limit, spent, reserved, wanted });
    } else held.push({ scope, subject, unit, amount: Math.min(wanted, limit - spent - reserved) });
  }
  const first = exceeded.find((ledger) => isExhausted(ledger, ledger.limit)) ?? exceeded[0];
  return first === undefined ? ok(held) : no(first);
}

/** What a turn that runs may take of each unit, as ledgers keep it; a unit that nothing limits is absent. */
export type Allowance = Readonly<Partial<Record<BudgetUnit, number>>>;

/** The amounts that are left for an agent if all other agents use up their own reservations. */
export function allowanceOf(
  settings: BudgetSettings,
  ledgers: readonly Ledger[],
  own: readonly Omit<Reservation, "turnId">[],
): Allowance {
  const allowance: Partial<Record<BudgetUnit, number>> = {};
  for (const { scope, subject, unit, amount } of own) {
    const ledger = ledgers.find((one) => one.scope === scope && one.subject === subject && one.unit === unit);
    const limit = ledger === undefined ? undefined : limitOf(settings, ledger);
    if (ledger === undefined || limit === undefined) continue;
    const left = Math.max(0, limit - ledger.spent - Math.max(0, ledger.reserved - amount));
    allowance[unit] = Math.min(left, allowance[unit] ?? left);
  }
  return allowance;
}

/** The reservations as changes of their ledgers. */
export const held = (reservations: readonly Omit<Reservation, "turnId">[]): readonly LedgerChange[] =>
  reservations.map(({ scope, subject, unit, amount }) => ({ scope, subject, unit, spent: 0, reserved: amount }));

/** Replaces the reservations of a turn by its real amounts, in the same ledgers: the day is the one on which it began. */
export const settled = (
  reservations: readonly Omit<Reservation, "turnId">[],
  actual: Amounts,
  { isUnpriced = false }: { readonly isUnpriced?: boolean } = {},
): readonly LedgerChange[] =>
  reservations.map(({ scope, subject, unit, amount }) => ({
    scope,
    subject,
    unit,
    spent: actual[unit],
    reserved: -amount,
    unpriced: isUnpriced && unit === "usd" ? 1 : 0,
  }));

/** The amounts of a turn that never started. */
export const nothing: Amounts = { usd: 0, tokens: 0, turns: 0, minutes: 0 };
