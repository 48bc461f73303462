/** What a budget is kept for. An agent is its name: a reopened one goes on with what its earlier generations spent. */
export const budgetScopes = ["agent", "task", "run", "day"] as const;
export type BudgetScope = (typeof budgetScopes)[number];

export const budgetUnits = ["usd", "tokens", "turns", "minutes"] as const;
export type BudgetUnit = (typeof budgetUnits)[number];

/** One amount per unit. Ledgers keep whole numbers (see `kept`), people and settings write decimals. */
export type Amounts = Readonly<Record<BudgetUnit, number>>;

/** As configured: what each scope may spend, 0 for no limit; and what a turn is taken to cost before any was seen. */
export interface BudgetSettings extends Readonly<Record<BudgetScope, Amounts>> {
  readonly estimate: Omit<Amounts, "turns">;
}

const unlimited: Amounts = { usd: 0, tokens: 0, turns: 0, minutes: 0 };

/** Sets no limit anywhere; the estimate is what a turn of a coding agent costs as a rule of thumb. */
export const noBudgets: BudgetSettings = {
  agent: unlimited,
  task: unlimited,
  run: unlimited,
  day: unlimited,
  estimate: { usd: 0.25, tokens: 100_000, minutes: 5 },
};

/** `subject`: an agent's name, a task's id, a run's id, or a day in UTC such as 2026-01-31. */
export interface BudgetSubject {
  readonly scope: BudgetScope;
  readonly subject: string;
}

export interface LedgerKey extends BudgetSubject {
  readonly unit: BudgetUnit;
}

/** The spent and reserved amounts of one unit. `raised`: the amount that the operator added to the limit. */
export interface Ledger extends LedgerKey {
  /** The limit of this subject, which replaces the configured one; null when the configured one counts. */
  readonly given: number | null;
  readonly raised: number;
  readonly spent: number;
  /** For turns that run now. */
  readonly reserved: number;
  /** Turns with tokens whose cost is unknown; 0 for other units than dollars. */
  readonly unpriced: number;
  /** The warning was given since the limit was last raised. */
  readonly warned: boolean;
  readonly updatedAt: number;
}

/** What one turn has set aside in one ledger. There is one for each ledger the turn touches, so none means settled. */
export interface Reservation extends LedgerKey {
  readonly turnId: string;
  readonly amount: number;
}

/** Added to a ledger; negative takes away. Changes commute, so the order of settlings does not matter. */
export interface LedgerChange extends LedgerKey {
  readonly spent: number;
  readonly reserved: number;
  readonly unpriced?: number;
}

/** What a turn that starts now is booked on. */
export function subjectsOf(
  agent: { readonly name: string; readonly taskId: string | null; readonly runId: string },
  now: number,
): readonly BudgetSubject[] {
  const task = agent.taskId === null ? [] : [{ scope: "task", subject: agent.taskId } as const];
  return [
    { scope: "agent", subject: agent.name },
    ...task,
    { scope: "run", subject: agent.runId },
    { scope: "day", subject: dayOf(now) },
  ];
}

/** Every ledger of the subjects, those never touched as empty ones. */
export function completeLedgers(subjects: readonly BudgetSubject[], known: readonly Ledger[]): readonly Ledger[] {
  const stored = new Map(known.map((ledger) => [refOf(ledger), ledger]));
  return subjects.flatMap((of) =>
    budgetUnits.map((unit) => {
      const key = { scope: of.scope, subject: of.subject, unit };
      return stored.get(refOf(key)) ?? emptyLedger(key);
    }),
  );
}

export const emptyLedger = ({ scope, subject, unit }: LedgerKey): Ledger => ({
  scope,
  subject,
  unit,
  given: null,
  raised: 0,
  spent: 0,
  reserved: 0,
  unpriced: 0,
  warned: false,
  updatedAt: 0,
});

export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10);

/** When a ledger gives way to the next by itself: the end of its day, else never. */
export const endsAt = ({ scope, subject }: BudgetSubject): number | null =>
  scope === "day" ? Date.parse(`${subject}T00:00:00Z`) + 86_400_000 : null;

/** How a wait names the ledger it is for: `run:run-1:usd`. */
export const refOf = ({ scope, subject, unit }: LedgerKey): string => `${scope}:${subject}:${unit}`;

export function parseRef(ref: string): LedgerKey | undefined {
  const [first, last] = [ref.indexOf(":"), ref.lastIndexOf(":")];
  const scope = budgetScopes.find((known) => known === ref.slice(0, first));
  const unit = budgetUnits.find((known) => known === ref.slice(last + 1));
  if (scope === undefined || unit === undefined || last <= first) return undefined;
  return { scope, subject: ref.slice(first + 1, last), unit };
}

/** Dollars are kept as millionths and minutes as milliseconds, so that sums are exact. */
const parts: Readonly<Record<BudgetUnit, number>> = { usd: 1_000_000, tokens: 1, turns: 1, minutes: 60_000 };

/** The largest amount a budget may have, so that even a sum of a hundred budgets is exact. */
export const mostAmount: Readonly<Record<BudgetUnit, number>> = {
  usd: 10_000_000,
  tokens: 1_000_000_000_000,
  turns: 1_000_000_000,
  minutes: 1_000_000_000,
};

/** Units of which there is no half. */
export const isWhole = (unit: BudgetUnit): boolean => parts[unit] === 1;

/**
 * An amount as ledgers store it. An amount that no counter can have (a negative or unreal number of a runtime) counts
 * as nothing.
 */
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
