import {
  type BudgetScope,
  budgetScopes,
  budgetUnits,
  dayOf,
  isWhole,
  kept,
  type LedgerKey,
  mostAmount,
  refOf,
  shown,
} from "../../domain/budget/budget.ts";
import { isExhausted, limitOf } from "../../domain/budget/ledger.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { type InvalidInput, invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { decimal, fields, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import type { UseCase } from "../usecase.ts";
import { findLedger, liftBudgetWaits } from "./lift-waits.ts";

export interface RaiseRequest {
  readonly scope: string;
  /** An agent's name, a task's id, a run's id, or a day; `today` is one. */
  readonly subject: string;
  readonly unit: string;
  /** In dollars, tokens, turns or minutes. */
  readonly amount: number;
}

/** Amounts in the units people write. */
export interface RaiseReply extends LedgerKey {
  readonly limit: number;
  readonly spent: number;
  /** Agents that may have turns again. */
  readonly resumed: readonly string[];
  /** Agents that still wait for this ledger, because the added amount is already spent or set aside. */
  readonly parked: readonly string[];
  readonly exhausted: boolean;
}

/** Adds to the limit of one subject and lets the agents go on that were parked for want of it. */
export const raiseBudget: UseCase<RaiseRequest, RaiseReply> = {
  kind: "write",
  request: fields({ scope: text, subject: text, unit: text, amount: decimal }),
  operatorOnly: true,
  run: async (tx, context, request) => {
    const { ids, now, settings } = context;
    const key = await keyOf(tx, request, now);
    if (!key.ok) return key;
    const amount = amountOf(key.value, request.amount);
    if (!amount.ok) return amount;
    const { scope, unit } = key.value;
    if (limitOf(settings.budgets, await findLedger(tx, key.value)) === undefined) {
      const set = `ov config set budgets.${scope}.${unit} <amount>`;
      return no(invalid("unit", `has no limit for a ${scope} that could be raised; set one: ${set}`, { value: unit }));
    }
    await tx.budgets.raise(key.value, amount.value, now);
    const ledger = await findLedger(tx, key.value);
    const limit = limitOf(settings.budgets, ledger) ?? 0;
    const runId = scope === "run" ? key.value.subject : null;
    const data = { ...key.value, by: shown(unit, amount.value), limit: shown(unit, limit) };
    await record(tx, context.now, { ...byCaller(context.caller, runId), type: "budget_raised", data });
    const { resumed } = await liftBudgetWaits(tx, { limits: settings.budgets, ids, now });
    const waiting = await tx.budgets.waiting();
    return ok({
      ...key.value,
      limit: shown(unit, limit),
      spent: shown(unit, ledger.spent),
      resumed,
      parked: waiting.filter(({ ref }) => ref === refOf(key.value)).map(({ agentName }) => agentName),
      exhausted: isExhausted(ledger, limit),
    });
  },
};

async function keyOf(tx: Tx, request: RaiseRequest, now: number): Promise<Result<LedgerKey, Refusal>> {
  const scope = oneOf("scope", request.scope, budgetScopes);
  if (!scope.ok) return scope;
  const unit = oneOf("unit", request.unit, budgetUnits);
  if (!unit.ok) return unit;
  const subject = await subjectOf(tx, scope.value, request.subject, now);
  return subject.ok ? ok({ scope: scope.value, subject: subject.value, unit: unit.value }) : subject;
}

function oneOf<T extends string>(field: string, value: string, allowed: readonly T[]): Result<T, InvalidInput> {
  const found = allowed.find((known) => known === value);
  if (found !== undefined) return ok(found);
  const close = nearest(value, allowed);
  return no(
    invalid(field, "is not known", close === undefined ? { value, allowed } : { value, allowed, nearest: close }),
  );
}

/** A mistyped subject would be raised in vain, so it must exist. */
async function subjectOf(tx: Tx, scope: BudgetScope, subject: string, now: number): Promise<Result<string, Refusal>> {
  switch (scope) {
    case "agent": {
      if ((await tx.agents.byName(subject)) !== undefined) return ok(subject);
      return no(notFound("agent", subject, nearest(subject, await tx.agents.names())));
    }
    case "task": {
      // The program knows a task of another tracker only by its spending.
      const known = (await tx.tasks.get(subject)) ?? (await tx.budgets.of([{ scope, subject }]))[0];
      return known === undefined ? no(notFound("task", subject, nearest(subject, await tx.tasks.ids()))) : ok(subject);
    }
    case "run":
      return (await tx.runs.get(subject)) === undefined ? no(notFound("run", subject)) : ok(subject);
    case "day":
      return dayIn(subject, now);
  }
}

function dayIn(subject: string, now: number): Result<string, Refusal> {
  if (subject === "today") return ok(dayOf(now));
  const at = /^\d{4}-\d\d-\d\d$/.test(subject) ? Date.parse(`${subject}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(at) && dayOf(at) === subject) return ok(subject);
  return no(invalid("subject", "must be a day such as 2026-01-31, or today", { value: subject }));
}

function amountOf({ unit }: LedgerKey, amount: number): Result<number, InvalidInput> {
  const value = String(amount);
  const stored = kept(unit, amount);
  if (!(amount > 0 && amount <= mostAmount[unit]) || stored === 0) {
    return no(invalid("amount", `must be a number above 0 and at most ${mostAmount[unit]}`, { value }));
  }
  if (isWhole(unit) && !Number.isInteger(amount)) {
    return no(invalid("amount", `must be a whole number of ${unit}`, { value }));
  }
  return ok(stored);
}
