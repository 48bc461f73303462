import type { Agent } from "../../domain/agent/agent.ts";
import { type Amounts, kept, type Reservation } from "../../domain/budget/budget.ts";
import { limitOf, settled, shouldWarn } from "../../domain/budget/ledger.ts";
import { countedTokens, type TokenCounts } from "../../domain/budget/usage.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { announceWarning } from "./announce.ts";
import { liftBudgetWaits } from "./lift-waits.ts";
import type { BudgetTerms } from "./terms.ts";

export interface SettleTurnBudget extends BudgetTerms {
  readonly turn: Pick<Turn, "id" | "startedAt">;
  readonly agent: Agent;
  /** What the runtime says the turn cost; null when it does not say. */
  readonly costUsd: number | null;
  /** Default: what `recordUsage` stored for the turn. */
  readonly usage?: TokenCounts;
  /** Default: from the turn's start to now. */
  readonly minutes?: number;
}

/**
 * Replaces what the turn set aside by what it took, warns where most of a budget is gone, and lets go on who waited for
 * room. Belongs in the transaction that ends the turn; a second call for it changes nothing.
 */
export async function settleTurnBudget(tx: Tx, ended: SettleTurnBudget): Promise<void> {
  const reservations = await tx.budgets.take(ended.turn.id);
  if (reservations.length === 0) return;
  await tx.budgets.book(settled(reservations, await actual(tx, ended)), ended.now);
  await warn(tx, ended, reservations);
  await liftBudgetWaits(tx, ended);
}

async function warn(tx: Tx, ended: SettleTurnBudget, reservations: readonly Reservation[]): Promise<void> {
  // Every subject has one ledger of turns, so these name each subject once.
  const subjects = reservations.filter(({ unit }) => unit === "turns");
  for (const ledger of await tx.budgets.of(subjects)) {
    const { scope, subject, unit, spent } = ledger;
    const limit = limitOf(ended.limits, ledger);
    if (limit === undefined || !shouldWarn(ledger, limit)) continue;
    if (!(await tx.budgets.warn(ledger, ended.now))) continue;
    await announceWarning(tx, ended, ended.agent, { scope, subject, unit, spent, limit });
  }
}

/** A cost nobody knows counts as none: then the limits of the other units are the ones that hold. */
async function actual(tx: Tx, { turn, costUsd, usage, minutes, now }: SettleTurnBudget): Promise<Amounts> {
  const tokens = countedTokens(usage === undefined ? await tx.usage.ofTurn(turn.id) : [usage]);
  return {
    usd: kept("usd", costUsd ?? 0),
    tokens: kept("tokens", tokens),
    turns: 1,
    minutes: kept("minutes", minutes ?? (now - (turn.startedAt ?? now)) / 60_000),
  };
}
