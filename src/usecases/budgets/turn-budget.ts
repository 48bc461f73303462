import type { Agent } from "../../domain/agent/agent.ts";
import {
  type Amounts,
  completeLedgers,
  endsAt,
  kept,
  type Ledger,
  type Reservation,
  refOf,
  subjectsOf,
} from "../../domain/budget/budget.ts";
import {
  type Exceeded,
  held,
  isExhausted,
  limitOf,
  nothing,
  reserve,
  settled,
  shouldWarn,
} from "../../domain/budget/ledger.ts";
import { countedTokens, estimateTurn, spentOf, type TokenCounts, type Usage } from "../../domain/budget/usage.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { askAboutParked, closeAboutParked } from "../runs/review-question.ts";
import type { BudgetTerms } from "./announce.ts";
import { announceExceeded, announceUnpriced, announceWarning } from "./announce.ts";
import { type Lifted, liftBudgetWaits } from "./lift-waits.ts";

interface ReserveTurn extends BudgetTerms {
  readonly turn: Pick<Turn, "id">;
  readonly agent: Agent;
}

export type ReservedTurn = { readonly ok: true } | { readonly ok: false; readonly exceeded: Exceeded };

/**
 * Sets aside what the turn will take, in the transaction that starts it. A no parks the agent and leaves the turn to the
 * queue: it comes up again when the wait is gone. Repeating the call for the same turn changes nothing.
 */
export async function reserveTurn(tx: Tx, asked: ReserveTurn): Promise<ReservedTurn> {
  const { turn, agent, limits, now } = asked;
  if (await tx.budgets.isHeld(turn.id)) return { ok: true };
  const subjects = subjectsOf(agent, now);
  const ledgers = completeLedgers(subjects, await tx.budgets.of(subjects));
  const reserved = reserve(limits, ledgers, await expected(tx, asked, ledgers));
  if (!reserved.ok) {
    await park(tx, asked, reserved.refusal);
    return { ok: false, exceeded: reserved.refusal };
  }
  await tx.budgets.hold(turn.id, reserved.value);
  await tx.budgets.book(held(reserved.value), now);
  await unpark(tx, agent.name);
  await closeAboutParked(tx, asked, agent);
  return { ok: true };
}

async function expected(tx: Tx, { agent, limits }: ReserveTurn, ledgers: readonly Ledger[]): Promise<Amounts> {
  const own = spentOf(ledgers.filter(({ scope }) => scope === "agent"));
  return estimateTurn(own, own.turns > 0 ? own : await tx.budgets.spentBy(agent.capability), limits);
}

async function park(tx: Tx, asked: ReserveTurn, exceeded: Exceeded): Promise<void> {
  const { agent, turn, now } = asked;
  const ref = refOf(exceeded);
  const waits = await tx.waits.of(agent.name);
  if (!waits.some((wait) => wait.kind === "budget" && wait.ref === ref)) {
    await tx.waits.add({ agentName: agent.name, kind: "budget", ref, since: now, deadline: endsAt(exceeded) });
    const exhausted = isExhausted(exceeded, exceeded.limit);
    await record(tx, now, {
      source: "engine",
      agent,
      turnId: turn.id,
      // What running turns hold comes free by itself; only the other one needs a person.
      type: exhausted ? "budget_exceeded" : "budget_wait",
      level: exhausted ? "warn" : "info",
      data: exceeded,
    });
  }
  if (!isExhausted(exceeded, exceeded.limit)) return;
  await announceExceeded(tx, asked, agent, exceeded);
  await askAboutParked(tx, asked, agent, ref);
}

/** Ends the waits for a budget of an agent that got its reservation: the budget is no longer used up. */
async function unpark(tx: Tx, name: string): Promise<void> {
  for (const { kind, ref } of await tx.waits.of(name)) {
    if (kind === "budget") await tx.waits.remove(name, kind, ref);
  }
}

/**
 * Gives back what a turn set aside that will not run after all; agents that waited for it go on. Harmless for a turn that was
 * settled or never reserved.
 */
export async function releaseReservation(tx: Tx, turnId: string, terms: BudgetTerms): Promise<void> {
  if (await giveBackBudget(tx, turnId, terms.now)) await liftBudgetWaits(tx, terms);
}

/** The same, but the caller lifts the waits. False when the turn has nothing set aside. */
export async function giveBackBudget(tx: Tx, turnId: string, now: number): Promise<boolean> {
  const reservations = await tx.budgets.take(turnId);
  await tx.budgets.book(settled(reservations, nothing), now);
  return reservations.length > 0;
}

interface SettleTurnBudget extends BudgetTerms {
  readonly turn: Pick<Turn, "id" | "startedAt">;
  readonly agent: Agent;
  /** The cost of the turn; null when unknown. */
  readonly costUsd: number | null;
  /** Default: what `recordUsage` stored for the turn. */
  readonly usage?: TokenCounts;
  /** Default: from the turn's start to now. */
  readonly minutes?: number;
}

/**
 * Replaces the amount that the turn set aside by the amount it spent, warns when most of a budget is spent, and lets
 * agents go on that waited for the budget. Call it in the transaction that ends the turn; a second call for the turn
 * changes nothing.
 */
export async function settleTurnBudget(tx: Tx, ended: SettleTurnBudget): Promise<void> {
  const reservations = await tx.budgets.take(ended.turn.id);
  if (reservations.length === 0) return;
  const took = await actual(tx, ended);
  const isUnpriced = ended.costUsd === null && took.tokens > 0;
  await tx.budgets.book(settled(reservations, took, { isUnpriced }), ended.now);
  await warn(tx, ended, reservations);
  if (isUnpriced) await tellUnpriced(tx, ended, reservations);
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

/** A limit in dollars that cannot hold is told once for each ledger, with the limit of tokens that holds instead. */
async function tellUnpriced(tx: Tx, ended: SettleTurnBudget, reservations: readonly Reservation[]): Promise<void> {
  const subjects = reservations.filter(({ unit }) => unit === "usd");
  const ledgers = completeLedgers(subjects, await tx.budgets.of(subjects));
  for (const ledger of ledgers.filter(({ unit }) => unit === "usd")) {
    const limit = limitOf(ended.limits, ledger);
    if (limit === undefined) continue;
    const tokens = ledgers.find((one) => one.unit === "tokens" && one.scope === ledger.scope);
    const instead = tokens === undefined ? undefined : limitOf(ended.limits, tokens);
    await announceUnpriced(tx, ended, ended.agent, { ledger: { ...ledger, limit }, tokens: instead });
  }
}

/** An unknown cost counts as none: then only the limits of the other units hold. */
async function actual(tx: Tx, { turn, costUsd, usage, minutes, now }: SettleTurnBudget): Promise<Amounts> {
  const tokens = countedTokens(usage === undefined ? await tx.usage.ofTurn(turn.id) : [usage]);
  return {
    usd: kept("usd", costUsd ?? 0),
    tokens: kept("tokens", tokens),
    turns: 1,
    minutes: kept("minutes", minutes ?? (now - (turn.startedAt ?? now)) / 60_000),
  };
}

/** Stores what answers of a model took. A message reported again (re-read output, a longer answer) counts once. */
export async function recordUsage(tx: Tx, rows: readonly Usage[]): Promise<void> {
  for (const row of rows) await tx.usage.record(row);
}

/**
 * For the engine's start (limits may have been edited) and for `nextAt` (a day ends): gives back what turns set aside
 * that will never be settled, and lets agents go on whose budget is no longer used up.
 */
export async function recheckBudgets(tx: Tx, terms: BudgetTerms): Promise<Lifted> {
  for (const turnId of await tx.budgets.abandoned()) await giveBackBudget(tx, turnId, terms.now);
  return liftBudgetWaits(tx, terms);
}
