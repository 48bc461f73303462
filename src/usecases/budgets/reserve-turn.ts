import type { Agent } from "../../domain/agent/agent.ts";
import { type Amounts, completeLedgers, endsAt, type Ledger, refOf, subjectsOf } from "../../domain/budget/budget.ts";
import { type Exceeded, held, isExhausted, reserve } from "../../domain/budget/ledger.ts";
import { estimateTurn, spentOf } from "../../domain/budget/usage.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { announceExceeded } from "./announce.ts";
import type { BudgetTerms } from "./terms.ts";

export interface ReserveTurn extends BudgetTerms {
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
  if (isExhausted(exceeded, exceeded.limit)) await announceExceeded(tx, asked, agent, exceeded);
}

/** What it was parked for has room again, or it would not have got its reservation. */
async function unpark(tx: Tx, name: string): Promise<void> {
  for (const { kind, ref } of await tx.waits.of(name)) {
    if (kind === "budget") await tx.waits.remove(name, kind, ref);
  }
}
