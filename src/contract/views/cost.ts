import { shown } from "../../domain/budget/budget.ts";
import type { TokenCounts } from "../../domain/budget/usage.ts";
import type { SpendingTotals } from "../../domain/cost/spending.ts";
import type { BudgetSoon } from "../../usecases/budgets/soon.ts";
import type { CostRow, CostSeries } from "../../usecases/costs/cost-series.ts";
import type { CostGroup, SessionCost } from "../../usecases/costs/list-costs.ts";
import type { LiveCost, LiveCosts } from "../../usecases/costs/live-costs.ts";
import type { Metrics } from "../../usecases/costs/metrics.ts";
import type { OwnSession } from "../../usecases/costs/own-session.ts";
import {
  olderCostKeys,
  olderGroupedKeys,
  olderLiveKeys,
  olderMetricKeys,
  olderRateKeys,
  olderTotalKeys,
} from "../older-keys.ts";
import { iso } from "../values.ts";

/**
 * Tokens and dollars of several turns. An unknown figure is null, never 0; `unpricedTurns` are in no sum of dollars.
 */
export const costTotalsView = (totals: SpendingTotals) => {
  const { turns, durationMs } = totals;
  const tokens = tokensOf(totals);
  return {
    turns,
    turnMs: durationMs,
    tokens,
    costUsd: costOf(totals),
    unpricedTurns: totals.unpriced,
    ...olderTotalKeys({ tokens }),
  };
};

function tokensOf({ turns, untold, input, output, cacheRead, cacheWrite }: SpendingTotals): TokenCounts | null {
  return turns > 0 && untold === turns ? null : { input, output, cacheRead, cacheWrite };
}

const costOf = ({ turns, unpriced, costMicros }: SpendingTotals): number | null =>
  turns > 0 && unpriced === turns ? null : costMicros / 1_000_000;

/** What one incarnation of an agent, or a session of a person, used and cost. */
export const sessionCostView = (session: SessionCost) => {
  const startedAt = iso(session.startedAt);
  const { tokens, costUsd, turns, turnMs, unpricedTurns } = costTotalsView(session.totals);
  const { model, mergeTier } = session;
  return {
    sessionId: session.sessionId,
    agentName: session.agentName,
    generation: session.generation,
    capability: session.capability,
    runtime: session.runtime,
    model,
    taskId: session.taskId,
    runId: session.runId,
    parentAgent: session.parentAgent,
    state: session.state,
    outcome: session.outcome,
    startedAt,
    completedAt: iso(session.completedAt),
    durationMs: session.durationMs,
    turns,
    turnMs,
    exitCode: session.exitCode,
    gates: session.gates,
    verdict: session.verdict,
    mergeTier,
    tokens,
    costUsd,
    costSource: session.costSource,
    unpricedTurns,
    limitUsd: session.limitUsd,
    usedPercent: session.usedPercent,
    ...olderCostKeys({ tokens, costUsd, model }),
    ...olderMetricKeys({ mergeTier }),
  };
};

/** Usage and cost of one agent, task, day or other subject. */
export const costGroupView = (group: CostGroup) => ({
  key: group.key,
  ...costTotalsView(group.totals),
  limitUsd: group.limitUsd,
  usedPercent: group.usedPercent,
  firstAt: iso(group.firstAt),
  lastAt: iso(group.lastAt),
});

/** All groups, also by name under the key of 0.11. */
export const costGroupsView = (groups: readonly CostGroup[]) => ({
  groups: groups.map(costGroupView),
  ...olderGroupedKeys(groups.map(({ key, totals }) => ({ key, turns: totals.turns, totals: costTotalsView(totals) }))),
});

const usd = (micros: number): number => micros / 1_000_000;

const costRowView = ({ key, totals, share, landed }: CostRow) => {
  const { turns, tokens, costUsd, unpricedTurns } = costTotalsView(totals);
  return {
    key,
    turns,
    tokens,
    costUsd,
    unpricedTurns,
    share,
    landed,
    usdPerLanding: landed === null || landed === 0 || costUsd === null ? null : costUsd / landed,
  };
};

/** Costs over time. `usd` of a series holds the sum of its costs at each of the `times`. */
export const costSeriesView = (series: CostSeries) => ({
  by: series.by,
  from: iso(series.from),
  to: iso(series.to),
  times: series.times.map((at) => iso(at)),
  series: series.series.map(({ key, micros }) => ({ key, usd: micros.map(usd) })),
  rows: series.rows.map(costRowView),
  totals: costTotalsView(series.totals),
  coordinationShare: series.coordinationShare,
  rate: series.rate === null ? null : { usdPerHour: usd(series.rate.microsPerHour), overMs: series.rate.overMs },
  limit: series.limit === null ? null : { ...series.limit, reachedAt: iso(series.limit.reachedAt) },
});

export const liveCostView = (agent: LiveCost) => {
  const { tokens, costUsd, turns, turnMs, unpricedTurns } = costTotalsView(agent.totals);
  const [startedAt, knownAt] = [iso(agent.startedAt), iso(agent.knownAt)];
  const { model } = agent;
  return {
    agentName: agent.agentName,
    capability: agent.capability,
    runtime: agent.runtime,
    model,
    taskId: agent.taskId,
    runId: agent.runId,
    turns,
    turnMs,
    tokens,
    costUsd,
    unpricedTurns,
    startedAt,
    knownAt,
    elapsedMs: agent.elapsedMs,
    ...olderCostKeys({ tokens, costUsd, model }),
    ...olderLiveKeys({ startedAt, knownAt }),
  };
};

export const liveCostsView = ({ agents, totals, usdPerMinute, tokensPerMinute }: LiveCosts) => ({
  agents: agents.map(liveCostView),
  totals: {
    ...costTotalsView(totals),
    usdPerMinute,
    tokensPerMinute,
    ...olderRateKeys({ usdPerMinute, tokensPerMinute }),
  },
});

/** The caller's own newest session, from the file that its program keeps. */
export const ownSessionView = ({ path, sessionId, model, tokens, costUsd }: OwnSession) => ({
  source: "self",
  transcriptPath: path,
  sessionId,
  model,
  tokens,
  costUsd,
  ...olderCostKeys({ tokens, costUsd, model }),
});

/** How the newest agents fared. */
export const metricsView = (metrics: Metrics) => ({
  sessions: metrics.sessions.map(sessionCostView),
  total: metrics.total,
  completed: metrics.completed,
  averageDurationMs: metrics.averageDurationMs,
  mergeTiers: metrics.mergeTiers,
  gates: metrics.gates,
  byCapability: metrics.byCapability,
  totals: costTotalsView(metrics.totals),
});

/** A budget that will be reached before long. */
export const budgetSoonView = ({ unit, limit, spent, since, ...budget }: BudgetSoon) => ({
  ...budget,
  unit,
  limit: shown(unit, limit),
  spent: shown(unit, spent),
  since: iso(since),
});
