import { noSpending, plus, type SpendingTotals } from "../../domain/cost/spending.ts";
import type { ResolutionTier } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import { fields, whole } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { type GateOutcome, listCosts, type SessionCost } from "./list-costs.ts";

export interface CapabilityMetrics {
  readonly capability: string;
  readonly total: number;
  readonly completed: number;
  readonly averageDurationMs: number | null;
}

/** How the newest agents fared: all numbers are about `sessions` alone. */
export interface Metrics {
  readonly sessions: readonly SessionCost[];
  readonly total: number;
  /** Agents that have ended. */
  readonly completed: number;
  /** Of agents that have ended, from start to end; null without one. */
  readonly averageDurationMs: number | null;
  readonly mergeTiers: Readonly<Partial<Record<ResolutionTier, number>>>;
  readonly gates: Readonly<Partial<Record<GateOutcome, number>>>;
  readonly byCapability: readonly CapabilityMetrics[];
  readonly totals: SpendingTotals;
}

/** Sums up the agents whose turns settled last. */
export const showMetrics: UseCase<{ readonly last: number }, Metrics> = {
  kind: "read",
  request: fields({ last: whole }),
  run: async (tx, context, { last }) => {
    const listed = await listCosts.run(tx, context, { last });
    return listed.ok ? ok(metricsOf(listed.value.sessions)) : listed;
  },
};

export function metricsOf(sessions: readonly SessionCost[]): Metrics {
  const capabilities = [...new Set(sessions.map(({ capability }) => capability))].toSorted();
  return {
    sessions,
    ...summaryOf(sessions),
    mergeTiers: countBy(sessions.map(({ mergeTier }) => mergeTier)),
    gates: countBy(sessions.map(({ gates }) => gates)),
    byCapability: capabilities.map((capability) => ({
      capability,
      ...summaryOf(sessions.filter((session) => session.capability === capability)),
    })),
    totals: sessions.reduce((sum, { totals }) => plus(sum, totals), noSpending),
  };
}

function summaryOf(sessions: readonly SessionCost[]): Pick<Metrics, "total" | "completed" | "averageDurationMs"> {
  const ended = sessions.filter(({ completedAt }) => completedAt !== null);
  const all = ended.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const averageDurationMs = ended.length === 0 ? null : Math.round(all / ended.length);
  return { total: sessions.length, completed: ended.length, averageDurationMs };
}

function countBy<Name extends string>(names: readonly (Name | null)[]): Partial<Record<Name, number>> {
  const counts: Partial<Record<Name, number>> = {};
  for (const name of names) if (name !== null) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
