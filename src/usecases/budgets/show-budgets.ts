import { hasEnded } from "../../domain/agent/agent.ts";
import {
  type BudgetSettings,
  type BudgetSubject,
  budgetScopes,
  budgetUnits,
  completeLedgers,
  dayOf,
  type Ledger,
  type LedgerKey,
  refOf,
  shown,
} from "../../domain/budget/budget.ts";
import { limitOf, percentOf } from "../../domain/budget/ledger.ts";
import { ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";

/** One ledger in the units people write: dollars, tokens, turns, minutes. */
export interface BudgetStanding extends LedgerKey {
  /** The limit with all raises; null without a limit. */
  readonly limit: number | null;
  readonly raised: number;
  readonly spent: number;
  readonly reserved: number;
  /** Spent, of the limit. */
  readonly percent: number | null;
  /** False for dollars if tokens were used and their price is unknown. */
  readonly reported: boolean;
  /** Turns that are not in the sum of dollars, because their cost is unknown. */
  readonly unpriced: number;
  /** Agents whose turns wait for this ledger. */
  readonly parked: readonly string[];
}

/** Every ledger that was touched, and those of today and of the current run that have a limit. */
export const showBudgets: UseCase<object, { readonly budgets: readonly BudgetStanding[] }> = {
  kind: "read",
  request: noFields,
  run: async (tx, { now, settings }) => {
    const stored = await tx.budgets.list();
    const upcoming = completeLedgers(await present(tx, now), stored).filter(
      (ledger) => ledger.updatedAt === 0 && limitOf(settings.budgets, ledger) !== undefined,
    );
    const parked = await parkedBy(tx);
    const unpriced = unpricedSubjects(stored);
    const budgets = [...stored, ...upcoming].toSorted(inOrder).map((ledger) => ({
      ...standingOf(settings.budgets, ledger),
      reported: ledger.unit !== "usd" || !unpriced.has(nameOf(ledger)),
      parked: parked.get(refOf(ledger)) ?? [],
    }));
    return ok({ budgets });
  },
};

async function present(tx: Tx, now: number): Promise<readonly BudgetSubject[]> {
  const run = await tx.runs.current();
  const today = { scope: "day", subject: dayOf(now) } as const;
  return run === undefined ? [today] : [{ scope: "run", subject: run.id }, today];
}

async function parkedBy(tx: Tx): Promise<ReadonlyMap<string, readonly string[]>> {
  const parked = new Map<string, string[]>();
  for (const { agentName, ref } of await tx.budgets.waiting()) {
    const agent = await tx.agents.byName(agentName);
    if (agent !== undefined && !hasEnded(agent)) parked.set(ref, [...(parked.get(ref) ?? []), agentName]);
  }
  return parked;
}

const nameOf = ({ scope, subject }: BudgetSubject): string => `${scope}:${subject}`;

function unpricedSubjects(ledgers: readonly Ledger[]): ReadonlySet<string> {
  const used = ledgers.filter(({ unit, spent }) => unit === "tokens" && spent > 0).map(nameOf);
  const priced = new Set(ledgers.filter(({ unit, spent }) => unit === "usd" && spent > 0).map(nameOf));
  return new Set(used.filter((name) => !priced.has(name)));
}

function standingOf(settings: BudgetSettings, ledger: Ledger): Omit<BudgetStanding, "reported" | "parked"> {
  const { scope, subject, unit, raised, spent, reserved, unpriced } = ledger;
  const limit = limitOf(settings, ledger);
  return {
    scope,
    subject,
    unit,
    limit: limit === undefined ? null : shown(unit, limit),
    raised: shown(unit, raised),
    spent: shown(unit, spent),
    reserved: shown(unit, reserved),
    unpriced,
    percent: limit === undefined ? null : percentOf(spent, limit),
  };
}

function inOrder(a: LedgerKey, b: LedgerKey): number {
  return (
    budgetScopes.indexOf(b.scope) - budgetScopes.indexOf(a.scope) ||
    (a.subject === b.subject ? 0 : a.subject < b.subject ? -1 : 1) ||
    budgetUnits.indexOf(a.unit) - budgetUnits.indexOf(b.unit)
  );
}
