import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import {
  dayOf,
  emptyLedger,
  endsAt,
  type Ledger,
  type LedgerKey,
  parseRef,
  refOf,
} from "../../domain/budget/budget.ts";
import { hasRoom, isExhausted, limitOf } from "../../domain/budget/ledger.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import { askAboutParked } from "../runs/review-question.ts";
import type { BudgetTerms } from "./announce.ts";
import { announceExceeded } from "./announce.ts";

export interface Lifted {
  /** Agents that may have turns again. */
  readonly resumed: readonly string[];
  /** When the next wait ends by itself, or null. */
  readonly nextAt: number | null;
}

/**
 * Looks at every wait for a budget again and ends those whose ledger is not used up: after a settling, a raise, a changed
 * configuration or the end of a day. An exhausted ledger that agents still wait for is reported once.
 */
export async function liftBudgetWaits(tx: Tx, terms: BudgetTerms): Promise<Lifted> {
  const resumed: string[] = [];
  let nextAt: number | null = null;
  const waits = await tx.budgets.waiting();
  for (const ref of new Set(waits.map((wait) => wait.ref))) {
    const key = parseRef(ref);
    const ledger = key === undefined ? undefined : await findLedger(tx, key);
    if (ledger === undefined || isOpen(terms, ledger)) {
      for (const name of await tx.waits.resolve("budget", ref)) {
        if (await resume(tx, terms, name, ref)) resumed.push(name);
      }
      continue;
    }
    const ends = endsAt(ledger);
    if (ends !== null) nextAt = Math.min(nextAt ?? ends, ends);
    const names = waits.filter((wait) => wait.ref === ref).map(({ agentName }) => agentName);
    await report(tx, terms, ledger, names);
  }
  return { resumed, nextAt };
}

/** Reports a budget that running turns have used up since these agents were parked. */
async function report(tx: Tx, terms: BudgetTerms, ledger: Ledger, waiting: readonly string[]): Promise<void> {
  const { scope, subject, unit, spent } = ledger;
  const limit = limitOf(terms.limits, ledger);
  if (limit === undefined || !isExhausted(ledger, limit)) return;
  for (const name of waiting) {
    const agent = await tx.agents.byName(name);
    if (agent === undefined) continue;
    await announceExceeded(tx, terms, agent, { scope, subject, unit, spent, limit });
    await askAboutParked(tx, terms, agent, refOf(ledger));
  }
}

function isOpen({ limits, now }: BudgetTerms, ledger: Ledger): boolean {
  return (ledger.scope === "day" && ledger.subject < dayOf(now)) || hasRoom(ledger, limitOf(limits, ledger));
}

/** Lets an agent go on. Its turn is usually still queued; if not, it gets a turn that needs no mail. */
async function resume(tx: Tx, { ids, now }: BudgetTerms, name: string, ref: string): Promise<boolean> {
  const agent = await tx.agents.byName(name);
  if (agent === undefined || hasEnded(agent)) return false;
  await record(tx, now, { source: "engine", agent, type: "budget_resumed", data: { ref } });
  if (agent.topology === "per_turn" && !(await isBusy(tx, agent))) {
    await tx.turns.queue({
      id: ids.next("turn"),
      agentId: agent.id,
      agentName: agent.name,
      runId: agent.runId,
      trigger: "nudge",
      reason: `the budget ${ref} has room again`,
      attempt: 1,
      notBefore: 0,
      now,
    });
  }
  return true;
}

async function isBusy(tx: Tx, { id }: Agent): Promise<boolean> {
  return (await tx.turns.queuedFor(id)) !== undefined || (await tx.turns.runningFor(id)) !== undefined;
}

/** The ledger as it stands; an empty one when nothing was ever booked on it. */
export async function findLedger(tx: Tx, key: LedgerKey): Promise<Ledger> {
  const ledgers = await tx.budgets.of([key]);
  return ledgers.find(({ unit }) => unit === key.unit) ?? emptyLedger(key);
}
