import type { Agent } from "../../domain/agent/agent.ts";
import { raiseCommand } from "../../domain/agent/status.ts";
import {
  budgetScopes,
  budgetUnits,
  dayOf,
  endsAt,
  inWords,
  kept,
  type Ledger,
  type LedgerKey,
  refOf,
} from "../../domain/budget/budget.ts";
import { isExhausted, isNearLimit, limitOf, percentOf } from "../../domain/budget/ledger.ts";
import { totalOf } from "../../domain/cost/spending.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

/** A budget that is not reached, and will be before long. */
export interface BudgetSoon extends LedgerKey {
  /** Stays the same until there is more to say: a person may put it off until it changes. */
  readonly sentence: string;
  readonly details: string;
  readonly limit: number;
  readonly spent: number;
  readonly percent: number;
  /** Those that get no new turn when it is reached. */
  readonly agents: readonly string[];
  readonly since: number;
  readonly command: string | null;
}

type Near = Ledger & {
  readonly limit: number;
  /** Spent in the last hour, where another one like it would reach the limit. */
  readonly lastHour: number | null;
};

const hourMs = 3_600_000;
const mostCapabilities = 1_000;
/** More warnings about budgets than one run gets. */
const mostWarnings = 1_000;

/**
 * Budgets of which most is spent, and those of runs and days that another hour like the last one would use up. A budget
 * for which an agent waits already is told with that agent. It takes a few statements, however many agents there are.
 */
export async function budgetsSoon(
  tx: Tx,
  { now, settings }: Pick<Context, "now" | "settings">,
): Promise<readonly BudgetSoon[]> {
  const limited = budgetScopes.flatMap((scope) =>
    budgetUnits.flatMap((unit) => (kept(unit, settings.budgets[scope][unit]) === 0 ? [] : [{ scope, unit }])),
  );
  const near: Near[] = [];
  for (const ledger of await tx.budgets.inUse(dayOf(now), limited)) {
    const limit = limitOf(settings.budgets, ledger);
    if (limit === undefined || isExhausted(ledger, limit)) continue;
    if (isNearLimit(ledger, limit)) near.push({ ...ledger, limit, lastHour: null });
    else if (ledger.unit === "usd") near.push(...(await usedUpWithinAnHour(tx, ledger, { limit, now })));
  }
  if (near.length === 0) return [];
  const awaited = new Set((await tx.waits.ofKind("budget")).map(({ ref }) => ref));
  const open = near.filter((ledger) => !awaited.has(refOf(ledger)));
  const live = await tx.agents.list({ live: true });
  const warnedAt = await warnings(tx, open, live);
  return open
    .toSorted((a, b) => percentOf(b.spent, b.limit) - percentOf(a.spent, a.limit))
    .map((ledger) => asTold(ledger, concernedBy(ledger, live), warnedAt.get(refOf(ledger))));
}

async function usedUpWithinAnHour(
  tx: Tx,
  ledger: Ledger,
  { limit, now }: { readonly limit: number; readonly now: number },
): Promise<readonly Near[]> {
  const { scope, subject, spent, updatedAt } = ledger;
  // At least half of it is spent where another hour like the last one reaches it, unless earlier hours took something, too.
  if ((scope !== "run" && scope !== "day") || updatedAt <= now - hourMs) return [];
  const of = scope === "run" ? { runId: subject } : {};
  const sums = await tx.spending.sums("capability", { ...of, since: now - hourMs, until: now }, mostCapabilities);
  const lastHour = totalOf(sums).costMicros;
  const hoursLeft = Math.min(1, ((endsAt(ledger) ?? Number.POSITIVE_INFINITY) - now) / hourMs);
  return lastHour > 0 && spent + lastHour * hoursLeft >= limit ? [{ ...ledger, limit, lastHour }] : [];
}

function concernedBy({ scope, subject }: LedgerKey, live: readonly Agent[]): readonly string[] {
  const isConcerned = ({ name, taskId, runId }: Agent): boolean =>
    scope === "day" || subject === (scope === "agent" ? name : scope === "task" ? taskId : runId);
  return live.filter(isConcerned).map(({ name }) => name);
}

/** When it was warned that most of these is spent: the warning is on record in the run of the agent that spent it. */
async function warnings(tx: Tx, near: readonly Near[], live: readonly Agent[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  if (near.every(({ lastHour }) => lastHour !== null)) return found;
  const runs = near.flatMap(({ scope, subject }) => (scope === "run" ? [subject] : []));
  for (const runId of new Set([...runs, ...live.map((agent) => agent.runId)])) {
    const asked = { runId, types: ["budget_warning"], factsOnly: true } as const;
    for (const { data, createdAt } of await tx.events.newest(asked, mostWarnings)) {
      const { scope, subject, unit } = payloadFields(data);
      found.set(`${String(scope)}:${String(subject)}:${String(unit)}`, createdAt);
    }
  }
  return found;
}

/** Sentences count in such steps, so that they do not change with every turn. */
const percentStep = 5;

function asTold(ledger: Near, agents: readonly string[], warnedAt: number | undefined): BudgetSoon {
  const { scope, subject, unit, limit, spent, lastHour, updatedAt } = ledger;
  const of = scope === "agent" ? subject : `${scope} ${subject}`;
  const most = inWords(unit, limit);
  const percent = percentOf(spent, limit);
  const facts = `${inWords(unit, spent)} of ${most} (${percent} %)`;
  return {
    scope,
    subject,
    unit,
    limit,
    spent,
    percent,
    agents,
    sentence:
      lastHour === null
        ? `${of} has used at least ${Math.floor(percent / percentStep) * percentStep} % of ${most}`
        : `${of} will have used up ${most} within the hour if it goes on as in the last one`,
    details: [
      lastHour === null ? `${facts} spent.` : `${facts} spent, ${inWords(unit, lastHour)} of it in the last hour.`,
      `At 100 % no new turn starts${agents.length === 0 ? "" : `; concerned: ${namedIn(agents)}`}.`,
    ].join(" "),
    since: warnedAt ?? updatedAt,
    command: raiseCommand(refOf(ledger)),
  };
}
