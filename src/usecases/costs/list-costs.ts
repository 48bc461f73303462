import type { Agent, AgentState } from "../../domain/agent/agent.ts";
import { statusOf } from "../../domain/agent/status.ts";
import { type BudgetScope, type BudgetSettings, completeLedgers, shown } from "../../domain/budget/budget.ts";
import { limitOf, percentOf } from "../../domain/budget/ledger.ts";
import {
  type CostGrouping,
  costGroupings,
  localDay,
  plus,
  quarterMs,
  type SpendingDimension,
  type SpendingSum,
  type SpendingTotals,
  totalOf,
} from "../../domain/cost/spending.ts";
import type { MergeEntry, ResolutionTier, Verdict } from "../../domain/merge/entry.ts";
import type { CostSource } from "../../domain/prices/prices.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { agentDuration } from "../../domain/run/run.ts";
import { fields, oneOf, text, whole } from "../../domain/schema/schema.ts";
import type { SpendingFilter } from "../../ports/store/spending.ts";
import type { Tx } from "../../ports/store.ts";
import { findAgent } from "../agents/find-agent.ts";
import type { UseCase } from "../usecase.ts";

export interface CostsRequest extends SpendingFilter {
  /** The newest so many. */
  readonly last: number;
}

/** Dollars that may be spent, and the part of them that is spent in percent; null without a limit. */
export interface CostLimit {
  readonly limitUsd: number | null;
  readonly usedPercent: number | null;
}

/** How the gates ended when the agent last said that it was done. */
export type GateOutcome = "success" | "partial" | "failure";

/** What one incarnation of an agent, or a session of a person, used and cost. */
export interface SessionCost extends CostLimit {
  readonly sessionId: string;
  readonly agentName: string;
  /** Of an agent that was started again under its name; null for a session of a person. */
  readonly generation: number | null;
  readonly capability: string;
  readonly runtime: string;
  /** The model that answered most in its newest turn. */
  readonly model: string | null;
  readonly taskId: string | null;
  readonly runId: string | null;
  readonly parentAgent: string | null;
  readonly state: AgentState | null;
  readonly outcome: Agent["outcome"];
  /** Its state and outcome as a person reads them; null for a session of a person. */
  readonly status: string | null;
  readonly startedAt: number;
  readonly completedAt: number | null;
  readonly durationMs: number;
  /** Of the process of its newest turn. */
  readonly exitCode: number | null;
  readonly gates: GateOutcome | null;
  readonly verdict: Verdict | null;
  readonly mergeTier: ResolutionTier | null;
  readonly costSource: CostSource;
  readonly totals: SpendingTotals;
}

const filters = {
  agentName: text,
  runId: text,
  taskId: text,
  capability: text,
  runtime: text,
  since: whole,
  until: whole,
} as const;

/** The sums of a list, and of all that its question is about. */
interface CostSums {
  readonly totals: SpendingTotals;
  /** With what the list leaves out: all but the newest so many, and turns that have no task where tasks are listed. */
  readonly all: SpendingTotals;
}

/** What agents used and cost, those first whose turn settled last. */
export const listCosts: UseCase<CostsRequest, CostSums & { readonly sessions: readonly SessionCost[] }> = {
  kind: "read",
  request: fields<CostsRequest>({ last: whole }, filters),
  run: async (tx, { now, settings }, { last, ...asked }) => {
    const problem = problemOf(last);
    if (problem !== undefined) return no(problem);
    const filter = await spendingFilter(tx, asked);
    if (!filter.ok) return filter;
    const sums = await tx.spending.sums("session", filter.value, last);
    const sessions: SessionCost[] = [];
    for (const sum of sums) sessions.push(...(await sessionOf(tx, { sum, now, budgets: settings.budgets })));
    return ok({ sessions, totals: totalOf(sums), all: await allOf(tx, filter.value) });
  },
};

/** Every turn has a capability, and there are few of them. */
const allOf = async (tx: Tx, filter: SpendingFilter): Promise<SpendingTotals> =>
  totalOf(await tx.spending.sums("capability", filter, mostCapabilities));

const mostCapabilities = 1_000;

const problemOf = (last: number): Refusal | undefined =>
  last >= 1 ? undefined : invalid("last", "must be a whole number of 1 or more", { value: String(last) });

/**
 * The filter of a question, refused where it names an agent, a run or a task that never was: a sum of nothing would look like an
 * answer. A person's own session has a name, and no row of an agent.
 */
export async function spendingFilter<Filter extends Pick<SpendingFilter, "agentName" | "runId" | "taskId">>(
  tx: Tx,
  filter: Filter,
): Promise<Result<Filter, Refusal>> {
  const { agentName, runId, taskId } = filter;
  if (runId !== undefined && (await tx.runs.get(runId)) === undefined) return no(notFound("run", runId));
  const isTask =
    taskId === undefined ||
    (await tx.tasks.get(taskId)) !== undefined ||
    (await tx.spending.sumsOf("task", [taskId])).length > 0 ||
    (await tx.agents.list({ taskId })).length > 0;
  if (!isTask) return no(notFound("task", taskId));
  if (agentName === undefined || (await tx.spending.sumsOf("agent", [agentName])).length > 0) return ok(filter);
  const found = await findAgent(tx, agentName);
  return found.ok ? ok({ ...filter, agentName: found.value.name }) : found;
}

interface Looking {
  readonly sum: SpendingSum;
  readonly now: number;
  readonly budgets: BudgetSettings;
}

async function sessionOf(tx: Tx, { sum, now, budgets }: Looking): Promise<SessionCost[]> {
  const agent = await tx.agents.get(sum.key);
  const row = agent === undefined ? (await tx.spending.ofSource(sum.key))[0] : await tx.spending.newestOf(agent.id);
  if (row === undefined && agent === undefined) return [];
  const name = agent?.name ?? row?.agentName ?? "";
  const turn = row === undefined ? undefined : await tx.turns.get(row.source);
  return [
    {
      sessionId: sum.key,
      agentName: name,
      generation: agent?.generation ?? null,
      capability: agent?.capability ?? row?.capability ?? "",
      runtime: agent?.runtime ?? row?.runtime ?? "",
      model: row?.model ?? agent?.model ?? null,
      taskId: agent?.taskId ?? row?.taskId ?? null,
      runId: agent?.runId ?? row?.runId ?? null,
      parentAgent: agent?.parentName ?? null,
      state: agent?.state ?? null,
      outcome: agent?.outcome ?? null,
      status: agent === undefined ? null : statusOf(agent).words,
      startedAt: agent?.startedAt ?? sum.firstAt,
      completedAt: agent?.endedAt ?? null,
      durationMs: agent === undefined ? sum.durationMs : agentDuration(agent, now),
      exitCode: turn?.exitCode ?? null,
      costSource: row?.costSource ?? "unknown",
      totals: sum,
      ...(await proofOf(tx, agent)),
      ...shareOf(sum, (await limitsOf(tx, budgets, "agent", [name])).get(name)),
    },
  ];
}

async function proofOf(
  tx: Tx,
  agent: Agent | undefined,
): Promise<Pick<SessionCost, "gates" | "verdict" | "mergeTier">> {
  if (agent === undefined) return { gates: null, verdict: null, mergeTier: null };
  const check = (await tx.checks.completionsOf(agent.id)).at(-1);
  const entry = await newestEntryOf(tx, agent);
  const verdict = check?.verdict ?? null;
  const isProof = verdict === "verified" || verdict === "verified_with_gaps" || verdict === "unverified";
  return {
    gates: check === undefined ? null : gateOutcome(check.status, verdict),
    verdict: isProof ? verdict : null,
    mergeTier: entry?.tier ?? null,
  };
}

/** The newest entry of the merge queue that is about this incarnation: its successors have the same branch. */
async function newestEntryOf(tx: Tx, { branch, startedAt }: Agent): Promise<MergeEntry | undefined> {
  if (branch === null) return undefined;
  const [entries, agents] = [await tx.merges.list({ branch }), await tx.agents.list({ branch })];
  const successors = agents.map((one) => one.startedAt).filter((time) => time > startedAt);
  const end = Math.min(...successors);
  return entries.findLast(({ enqueuedAt }) => enqueuedAt >= startedAt && enqueuedAt < end);
}

function gateOutcome(status: string, verdict: string | null): GateOutcome | null {
  if (status === "failed") return "failure";
  if (status !== "done") return null;
  if (verdict === "verified") return "success";
  return verdict === "verified_with_gaps" ? "partial" : null;
}

const noLimit: CostLimit = { limitUsd: null, usedPercent: null };
const noLimits: ReadonlyMap<string, CostLimit> = new Map();

/** If no turn has a price, 0 % of a limit would say that nothing was spent. */
function shareOf({ turns, unpriced }: SpendingTotals, limit: CostLimit = noLimit): CostLimit {
  const isUnknown = turns > 0 && unpriced === turns && limit.usedPercent === 0;
  return isUnknown ? { ...limit, usedPercent: null } : limit;
}

/** The limits in dollars of these subjects. */
async function limitsOf(
  tx: Tx,
  budgets: BudgetSettings,
  scope: BudgetScope,
  subjects: readonly string[],
): Promise<ReadonlyMap<string, CostLimit>> {
  const wanted = subjects.map((subject) => ({ scope, subject }));
  const ledgers = completeLedgers(wanted, await tx.budgets.of(wanted)).filter(({ unit }) => unit === "usd");
  return new Map(
    ledgers.map((ledger) => {
      const limit = limitOf(budgets, ledger);
      if (limit === undefined) return [ledger.subject, noLimit];
      return [ledger.subject, { limitUsd: shown("usd", limit), usedPercent: percentOf(ledger.spent, limit) }];
    }),
  );
}

export interface GroupCostsRequest extends CostsRequest {
  readonly by: CostGrouping;
  /** The time zone of the reader, such as Asia/Kolkata: days are the reader's. */
  readonly zone: string;
}

export interface CostGroup extends CostLimit {
  readonly key: string;
  readonly totals: SpendingTotals;
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The same, summed up: days in their order, everything else with the most expensive first. */
export const groupCosts: UseCase<GroupCostsRequest, CostSums & { readonly groups: readonly CostGroup[] }> = {
  kind: "read",
  request: fields<GroupCostsRequest>({ last: whole, by: oneOf(costGroupings), zone: text }, filters),
  run: async (tx, { settings }, { last, by, zone, ...asked }) => {
    const problem = problemOf(last);
    if (problem !== undefined) return no(problem);
    const filter = await spendingFilter(tx, asked);
    if (!filter.ok) return filter;
    const all = await allOf(tx, filter.value);
    if (by === "day") {
      const days = await byDay(tx, zone, filter.value, last);
      if (!days.ok) return days;
      const groups = days.value;
      // Limits of days are about days in UTC, so they say nothing about the days of other places.
      const ofDays =
        zone === "UTC"
          ? await limitsOf(
              tx,
              settings.budgets,
              "day",
              groups.map(({ key }) => key),
            )
          : noLimits;
      return ok({
        groups: groups.map((group) => ({ ...group, ...shareOf(group.totals, ofDays.get(group.key)) })),
        totals: totalOf(groups.map(({ totals }) => totals)),
        all,
      });
    }
    const sums = await tx.spending.sums(by, filter.value, last);
    const scope = by === "agent" || by === "task" || by === "run" ? by : undefined;
    const keys = sums.map(({ key }) => key);
    const limits = scope === undefined ? noLimits : await limitsOf(tx, settings.budgets, scope, keys);
    const groups = sums.map((sum) => ({ ...groupOf(sum), ...shareOf(sum, limits.get(sum.key)) }));
    return ok({ groups: groups.toSorted(mostFirst), totals: totalOf(sums), all });
  },
};

const groupOf = ({ key, firstAt, lastAt, ...totals }: SpendingSum): CostGroup => ({
  key,
  totals,
  firstAt,
  lastAt,
  ...noLimit,
});

const mostFirst = (a: CostGroup, b: CostGroup): number =>
  b.totals.costMicros - a.totals.costMicros || tokensOf(b) - tokensOf(a) || (a.key < b.key ? -1 : 1);

const tokensOf = ({ totals }: CostGroup): number => totals.input + totals.output + totals.cacheWrite;

/** The longest day has 25 hours. */
const mostQuartersOfDay = 100;

async function byDay(
  tx: Tx,
  zone: string,
  filter: SpendingFilter,
  last: number,
): Promise<Result<readonly CostGroup[], Refusal>> {
  const dayAt = localDay(zone);
  if (dayAt === undefined) return no(invalid("zone", "is no time zone", { value: zone }));
  const quarter: SpendingDimension = "quarter";
  const days = new Map<string, CostGroup>();
  for (const sum of await tx.spending.sums(quarter, filter, (last + 1) * mostQuartersOfDay)) {
    const key = dayAt(Number(sum.key) * quarterMs);
    const known = days.get(key);
    const group = groupOf(sum);
    days.set(key, {
      ...group,
      key,
      totals: known === undefined ? group.totals : plus(known.totals, group.totals),
      firstAt: Math.min(group.firstAt, known?.firstAt ?? group.firstAt),
      lastAt: Math.max(group.lastAt, known?.lastAt ?? group.lastAt),
    });
  }
  return ok([...days.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1)).slice(-last));
}
