import { completeLedgers, dayOf, shown } from "../../domain/budget/budget.ts";
import { limitOf, percentOf } from "../../domain/budget/ledger.ts";
import { costShare, type SpendingStep, type SpendingTotals, totalOf } from "../../domain/cost/spending.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, oneOf, text, whole } from "../../domain/schema/schema.ts";
import type { SpendingFilter } from "../../ports/store/spending.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context, UseCase } from "../usecase.ts";
import { spendingFilter } from "./list-costs.ts";

export const seriesGroupings = ["agent", "capability", "model", "task"] as const;
export type SeriesGrouping = (typeof seriesGroupings)[number];

export interface CostSeriesRequest {
  readonly by: SeriesGrouping;
  /** Of this run; of all runs when it is left out. */
  readonly runId?: string | undefined;
  /** The last so many milliseconds; the whole run when it is left out, or a day of all runs. */
  readonly lastMs?: number | undefined;
}

/** What one agent, capability, model or task used, and what of it landed. */
export interface CostRow {
  readonly key: string;
  readonly totals: SpendingTotals;
  /** Of all dollars of the table, in percent; null where nothing is known of its cost. */
  readonly share: number | null;
  /** Branches that landed; null where they cannot be told apart, by model. */
  readonly landed: number | null;
}

export interface CostSeries {
  readonly by: SeriesGrouping;
  readonly from: number;
  readonly to: number;
  /** The ends of the steps, oldest first. */
  readonly times: readonly number[];
  /** The sums spent up to each of these moments, the largest series first. A null key is all others together. */
  readonly series: readonly { readonly key: string | null; readonly micros: readonly number[] }[];
  readonly rows: readonly CostRow[];
  readonly totals: SpendingTotals;
  /** The part of the dollars that agents used which lead others, in percent; null while nothing was spent. */
  readonly coordinationShare: number | null;
  /** How fast dollars were spent lately. `overMs`: in this time before `to`. */
  readonly rate: { readonly microsPerHour: number; readonly overMs: number } | null;
  /** The limit in dollars of the run, else of the day. */
  readonly limit: CostSeriesLimit | null;
}

export interface CostSeriesLimit {
  readonly scope: "run" | "day";
  readonly subject: string;
  readonly limitUsd: number;
  readonly spentUsd: number;
  readonly percent: number;
  /** When it is reached at the rate of now; null when nothing is spent, or when it is reached already. */
  readonly reachedAt: number | null;
}

const hourMs = 3_600_000;
const steps = 96;
const shortestStepMs = 60_000;
/** As many as there are colours, one of them for all others. */
const mostSeries = 8;
const mostRows = 500;

/** Costs over time by agent, capability, model or task, with the limit of the run. */
export const costSeries: UseCase<CostSeriesRequest, CostSeries> = {
  kind: "read",
  request: fields<CostSeriesRequest>({ by: oneOf(seriesGroupings) }, { runId: text, lastMs: whole }),
  run: async (tx, context, { by, lastMs, ...asked }) => {
    const filter = await spendingFilter(tx, asked);
    if (!filter.ok) return filter;
    const run = asked.runId === undefined ? undefined : await tx.runs.get(asked.runId);
    if (lastMs !== undefined && lastMs < 1) return no(invalid("lastMs", "must be above 0", { value: String(lastMs) }));
    const to = run?.completedAt ?? context.now;
    const begin = run?.startedAt ?? context.now - 24 * hourMs;
    const from = Math.min(to - 1, lastMs === undefined ? begin : Math.max(run?.startedAt ?? 0, to - lastMs));
    const window: SpendingFilter = { ...filter.value, since: from, until: to };
    const sums = await tx.spending.sums(by, window, mostRows);
    const totals = totalOf(sums);
    const landed = await landingsBy(tx, by, window);
    const rows = sums.map(({ key, ...sum }) => ({
      key,
      totals: sum,
      share: costShare(sum, totals),
      landed: landed === undefined ? null : (landed.get(key) ?? 0),
    }));
    const rate = await rateOf(tx, filter.value, { from, to });
    return ok({
      by,
      from,
      to,
      // A limit is about the whole run, so the graph starts at the sum spent before the window.
      ...stepsOf(await tx.spending.steps(by, { ...filter.value, until: to }, stepMs(from, to)), { from, to, run }),
      rows: rows.toSorted(mostFirst),
      totals,
      coordinationShare: await coordinationShare(tx, window),
      rate,
      limit: await limitNow(tx, context, asked.runId, rate),
    });
  },
};

const mostFirst = (a: CostRow, b: CostRow): number =>
  b.totals.costMicros - a.totals.costMicros || b.totals.output - a.totals.output || (a.key < b.key ? -1 : 1);

const stepMs = (from: number, to: number): number =>
  Math.max(shortestStepMs, Math.ceil((to - from) / steps / shortestStepMs) * shortestStepMs);

interface Window {
  readonly from: number;
  readonly to: number;
  readonly run?: object | undefined;
}

function stepsOf(found: readonly SpendingStep[], { from, to, run }: Window): Pick<CostSeries, "times" | "series"> {
  const size = stepMs(from, to);
  const first = Math.floor(from / size);
  const count = Math.floor(to / size) - first + 1;
  const byKey = new Map<string, number[]>();
  for (const { key, step, costMicros } of found) {
    if (run === undefined && step < first) continue;
    const growth = byKey.get(key) ?? Array.from({ length: count }, () => 0);
    const at = Math.min(count - 1, Math.max(0, step - first));
    growth[at] = (growth[at] ?? 0) + costMicros;
    byKey.set(key, growth);
  }
  const all = [...byKey]
    .map(([key, growth]) => ({ key, micros: cumulative(growth) }))
    .filter(isSpent)
    .toSorted(byEnd);
  const shownOnes = all.length > mostSeries ? all.slice(0, mostSeries - 1) : all;
  const rest = all.slice(shownOnes.length);
  const others = { key: null, micros: Array.from({ length: count }, (_, at) => sumAt(rest, at)) };
  return {
    times: Array.from({ length: count }, (_, at) => Math.min(to, (first + at + 1) * size)),
    series: rest.length === 0 ? shownOnes : [...shownOnes, others],
  };
}

interface Curve {
  readonly key: string;
  readonly micros: readonly number[];
}

const isSpent = ({ micros }: Curve): boolean => (micros.at(-1) ?? 0) > 0;
const byEnd = (a: Curve, b: Curve): number =>
  (b.micros.at(-1) ?? 0) - (a.micros.at(-1) ?? 0) || (a.key < b.key ? -1 : 1);
const sumAt = (all: readonly Curve[], at: number): number =>
  all.reduce((sum, { micros }) => sum + (micros[at] ?? 0), 0);

function cumulative(growth: readonly number[]): readonly number[] {
  let sum = 0;
  return growth.map((each) => {
    sum += each;
    return sum;
  });
}

/** How many branches landed in the window, by agent, capability or task. A branch is not the work of one model. */
async function landingsBy(
  tx: Tx,
  by: SeriesGrouping,
  { runId, since = 0, until = 0 }: SpendingFilter,
): Promise<ReadonlyMap<string, number> | undefined> {
  if (by === "model") return undefined;
  const merged = await tx.merges.list({ statuses: ["merged"], ...(runId === undefined ? {} : { runId }) });
  const inTime = merged.filter(({ updatedAt }) => updatedAt >= since && updatedAt <= until);
  const capabilities = new Map<string, string>();
  if (by === "capability") {
    for (const { name, capability } of await tx.agents.list(runId === undefined ? {} : { runId }))
      capabilities.set(name, capability);
  }
  const keyOf = ({ agentName, taskId }: MergeEntry): string | undefined =>
    (by === "task" ? taskId : by === "agent" ? agentName : capabilities.get(agentName ?? "")) ?? undefined;
  const counts = new Map<string, number>();
  for (const entry of inTime) {
    const key = keyOf(entry);
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

/** Agents of these capabilities plan, hand out and watch over the work of others. */
const coordinating: ReadonlySet<string> = new Set(["coordinator", "orchestrator", "lead", "supervisor", "monitor"]);

/** The part of the dollars that went into leading others, in percent. */
export async function coordinationShare(tx: Tx, filter: SpendingFilter): Promise<number | null> {
  const sums = await tx.spending.sums("capability", filter, mostRows);
  return costShare(totalOf(sums.filter(({ key }) => coordinating.has(key))), totalOf(sums));
}

async function rateOf(tx: Tx, filter: SpendingFilter, { from, to }: Window): Promise<CostSeries["rate"]> {
  const overMs = Math.min(hourMs, to - from);
  const lately = totalOf(await tx.spending.sums("capability", { ...filter, since: to - overMs, until: to }, mostRows));
  if (lately.turns === 0 || lately.unpriced === lately.turns) return null;
  return { microsPerHour: Math.round((lately.costMicros / overMs) * hourMs), overMs };
}

async function limitNow(
  tx: Tx,
  { now, settings }: Pick<Context, "now" | "settings">,
  runId: string | undefined,
  rate: CostSeries["rate"],
): Promise<CostSeriesLimit | null> {
  const today = { scope: "day", subject: dayOf(now) } as const;
  const subjects = runId === undefined ? [today] : [{ scope: "run", subject: runId } as const, today];
  const ledgers = completeLedgers(subjects, await tx.budgets.of(subjects)).filter(({ unit }) => unit === "usd");
  for (const { scope, subject } of subjects) {
    const ledger = ledgers.find((one) => one.scope === scope && one.subject === subject);
    const limit = ledger === undefined ? undefined : limitOf(settings.budgets, ledger);
    if (ledger === undefined || limit === undefined) continue;
    const left = limit - ledger.spent;
    const isGrowing = rate !== null && rate.microsPerHour > 0 && left > 0;
    return {
      scope,
      subject,
      limitUsd: shown("usd", limit),
      spentUsd: shown("usd", ledger.spent),
      percent: percentOf(ledger.spent, limit),
      reachedAt: isGrowing ? now + Math.round((left / rate.microsPerHour) * hourMs) : null,
    };
  }
  return null;
}
