import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import {
  type BudgetSettings,
  completeLedgers,
  endsAt,
  inWords,
  type Ledger,
  type LedgerKey,
  refOf,
  shown,
  subjectsOf,
} from "../../domain/budget/budget.ts";
import { type DollarWatch, dollarNote } from "../../domain/budget/dollar-watch.ts";
import { limitOf, percentOf } from "../../domain/budget/ledger.ts";
import type { Ids } from "../../ports/ids.ts";
import type { Tx } from "../../ports/store.ts";
import { notice, record } from "../events/record.ts";
import { fromEngine, post, type Recipient } from "../mail/post.ts";
import type { Context } from "../usecase.ts";

type Clock = Pick<BudgetTerms, "ids" | "now">;
type Filled = LedgerKey & Pick<Ledger, "spent"> & { readonly limit: number };

/** Tells the operator that turns stop for want of budget: once per ledger and limit, however many agents it parks. */
export async function announceExceeded(tx: Tx, clock: Clock, agent: Agent, ledger: Filled): Promise<void> {
  const key = `${refOf(ledger)}:${ledger.limit}`;
  if (!(await notice(tx, { kind: "budget_exceeded", about: ledger.subject, key }))) return;
  const resumes = endsAt(ledger);
  const byItself = resumes === null ? "" : ` Otherwise they go on at ${new Date(resumes).toISOString()}.`;
  const body =
    `${sentence(ledger)} ${agent.name} is parked, and so is everyone who needs this budget: no new turn starts, ` +
    `mail to them is kept. Let them go on with: ov budget raise ${raiseArguments(ledger)}${byItself}`;
  await post(tx, clock, {
    ...engineMail(agent, [{ name: "operator", wake: false }]),
    subject: `[ENGINE] budget used up: ${named(ledger)}`,
    body,
    type: "escalation",
    priority: "high",
    payload: JSON.stringify({ severity: "error", taskId: agent.taskId, context: body, ...facts(ledger) }),
  });
}

/**
 * Tells the operator, the agent's parent and, of a run's budget, the run's coordinator that most of it is gone. Wakes no agent:
 * that would spend the rest.
 */
export async function announceWarning(tx: Tx, clock: Clock, agent: Agent, ledger: Filled): Promise<void> {
  await record(tx, clock.now, { source: "engine", agent, type: "budget_warning", level: "warn", data: ledger });
  const run = ledger.scope === "run" ? await tx.runs.get(ledger.subject) : undefined;
  const told: Recipient[] = [];
  for (const name of new Set([agent.parentName, run?.coordinatorName ?? agent.parentName])) {
    const reader = await tx.agents.byName(name);
    if (reader !== undefined && !hasEnded(reader)) told.push({ name, wake: false });
  }
  await post(tx, clock, {
    ...engineMail(agent, [{ name: "operator", wake: false }, ...told]),
    subject: `[ENGINE] budget nearly used up: ${named(ledger)}`,
    body:
      `${sentence(ledger)} The last turn on it was ${agent.name}'s. At 100 % no new turn starts; ` +
      `the operator gives more with: ov budget raise ${raiseArguments(ledger)}`,
    type: "status",
    priority: "normal",
    payload: JSON.stringify(facts(ledger)),
  });
}

interface Unpriced {
  readonly ledger: LedgerKey & { readonly limit: number };
  /** The limit of tokens of the same subject. */
  readonly tokens: number | undefined;
}

/** Tells the operator once that a limit in dollars does not hold, because the cost of the turns is unknown. */
export async function announceUnpriced(
  tx: Tx,
  clock: Clock,
  agent: Agent,
  { ledger, tokens }: Unpriced,
): Promise<void> {
  const { scope, subject, unit, limit } = ledger;
  if (!(await notice(tx, { kind: "budget_unpriced", about: subject, key: refOf(ledger) }))) return;
  const model = agent.model ?? null;
  const data = { scope, subject, unit, model, tokens: tokens ?? null };
  await record(tx, clock.now, { source: "engine", agent, type: "budget_unpriced", level: "warn", data });
  const instead =
    tokens === undefined
      ? `Nothing bounds it instead. Set a limit of tokens: ov config set budgets.${scope}.tokens <amount>`
      : `Its limit of ${inWords("tokens", tokens)} holds instead.`;
  const body =
    `Nobody knows what turns of ${agent.name} cost: ${agent.runtime} does not say, and ` +
    `${model === null ? "its model is not known" : `the list of prices has no ${model}`}. ` +
    `So the limit of ${inWords(unit, limit)} for ${scope} ${subject} does not count them. ${instead} ` +
    `The prices that count are shown by: ov prices show`;
  await post(tx, clock, {
    ...engineMail(agent, [{ name: "operator", wake: false }]),
    subject: `[ENGINE] budget does not hold: ${named(ledger)}`,
    body,
    type: "status",
    priority: "normal",
    payload: JSON.stringify(data),
  });
}

/**
 * Says before the first turn of an agent that its tightest limit in dollars cannot hold while a turn runs; nothing where no
 * such limit is set, or it holds.
 */
export async function dollarNotes(
  tx: Tx,
  { settings, now }: Pick<Context, "settings" | "now">,
  agent: Agent,
  watch: DollarWatch | undefined,
): Promise<readonly string[]> {
  if (watch === undefined || watch === "held") return [];
  const subjects = subjectsOf(agent, now);
  const limited = completeLedgers(subjects, await tx.budgets.of(subjects)).flatMap((ledger) => {
    const limit = ledger.unit === "usd" ? limitOf(settings.budgets, ledger) : undefined;
    return limit === undefined ? [] : [{ ...ledger, limit }];
  });
  const [tightest] = limited.toSorted((a, b) => a.limit - b.limit);
  return tightest === undefined ? [] : [dollarNote(watch, agent, tightest)].filter((note) => note !== undefined);
}

const engineMail = (agent: Agent, recipients: readonly Recipient[]) => ({
  ...fromEngine,
  runId: agent.runId,
  address: "operator",
  recipients,
});

function sentence(ledger: Filled): string {
  const spent = inWords(ledger.unit, ledger.spent);
  const limit = inWords(ledger.unit, ledger.limit);
  const percent = percentOf(ledger.spent, ledger.limit);
  return `${ledger.scope} ${ledger.subject} has spent ${spent} of ${limit} (${percent} %).`;
}

const named = ({ scope, subject, unit }: LedgerKey): string =>
  `${scope} ${subject}, ${unit === "usd" ? "dollars" : unit}`;

const raiseArguments = ({ scope, subject, unit }: LedgerKey): string => `${scope} ${subject} ${unit} <amount>`;

const facts = ({ scope, subject, unit, limit, spent }: Filled) => ({
  scope,
  subject,
  unit,
  limit: shown(unit, limit),
  spent: shown(unit, spent),
});

/** Under which limits, and when, a ledger is looked at. */
export interface BudgetTerms {
  readonly limits: BudgetSettings;
  readonly ids: Ids;
  readonly now: number;
}
