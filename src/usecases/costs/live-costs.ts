import type { Usage } from "../../domain/budget/usage.ts";
import { noSpending, plus, type SpendingTotals, totalOf } from "../../domain/cost/spending.ts";
import { turnCost } from "../../domain/prices/prices.ts";
import { ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";
import type { UseCase } from "../usecase.ts";
import { spendingFilter } from "./list-costs.ts";

export interface LiveCostsRequest {
  readonly agentName?: string | undefined;
  readonly runId?: string | undefined;
}

const request = () => fields<LiveCostsRequest>({}, { agentName: text, runId: text });

interface RunningAgent {
  readonly agentName: string;
  readonly capability: string;
  readonly runtime: string;
  readonly model: string | null;
  readonly taskId: string | null;
  readonly runId: string;
  readonly startedAt: number;
  /** Of its turns that have settled. */
  readonly settled: SpendingTotals;
  readonly lastAt: number | null;
  /** The start of the running turn, and the use that its program has reported so far. */
  readonly turnStartedAt: number | null;
  readonly usage: readonly Usage[];
}

/** Live agents, with the stored facts of their running turns. */
export const readRunning: UseCase<
  LiveCostsRequest,
  { readonly agents: readonly RunningAgent[]; readonly now: number }
> = {
  kind: "read",
  request: request(),
  run: async (tx, { now }, asked) => {
    const filter = await spendingFilter(tx, asked);
    if (!filter.ok) return filter;
    const { agentName, runId } = filter.value;
    const live = await tx.agents.list({ live: true, ...(runId === undefined ? {} : { runId }) });
    const agents: RunningAgent[] = [];
    for (const agent of live.filter(({ name }) => agentName === undefined || name === agentName)) {
      const turn = await tx.turns.runningFor(agent.id);
      const [sum] = await tx.spending.sumsOf("session", [agent.id]);
      const newest = await tx.spending.newestOf(agent.id);
      agents.push({
        agentName: agent.name,
        capability: agent.capability,
        runtime: agent.runtime,
        model: newest?.model ?? agent.model,
        taskId: agent.taskId,
        runId: agent.runId,
        startedAt: agent.startedAt,
        settled: sum ?? noSpending,
        lastAt: sum?.lastAt ?? null,
        turnStartedAt: turn?.startedAt ?? null,
        usage: turn === undefined ? [] : await tx.usage.ofTurn(turn.id),
      });
    }
    return ok({ agents, now });
  },
};

/** What a live agent has used and cost until now. */
export interface LiveCost extends Omit<RunningAgent, "settled" | "usage" | "lastAt" | "turnStartedAt"> {
  readonly totals: SpendingTotals;
  /** When something was last told of it; null before that. */
  readonly knownAt: number | null;
  readonly elapsedMs: number;
}

export interface LiveCosts {
  readonly agents: readonly LiveCost[];
  readonly totals: SpendingTotals;
  /** Dollars and tokens for each minute of the time that the agents have been there on average. */
  readonly usdPerMinute: number | null;
  readonly tokensPerMinute: number | null;
}

/** What the live agents cost until now. A turn that runs is reckoned by the list of prices: its program has said nothing yet. */
export const liveCosts: Effect<LiveCostsRequest, LiveCosts> = {
  kind: "effect",
  request: request(),
  place: "engine",
  run: async (world, asked) => {
    const read = await world.call("cost.readRunning", asked);
    if (!read.ok) return read;
    const { list } = await world.prices();
    const { now } = read.value;
    const agents = read.value.agents.map(({ settled, usage, lastAt, turnStartedAt, ...agent }): LiveCost => {
      const cost = turnCost({ reportedUsd: null, answers: usage, model: agent.model, at: turnStartedAt ?? now, list });
      const running: SpendingTotals = {
        ...noSpending,
        turns: turnStartedAt === null ? 0 : 1,
        untold: turnStartedAt !== null && usage.length === 0 ? 1 : 0,
        unpriced: turnStartedAt !== null && cost.costMicros === null ? 1 : 0,
        input: sum(usage, "input"),
        output: sum(usage, "output"),
        cacheRead: sum(usage, "cacheRead"),
        cacheWrite: sum(usage, "cacheWrite"),
        costMicros: cost.costMicros ?? 0,
        durationMs: turnStartedAt === null ? 0 : now - turnStartedAt,
      };
      const told = Math.max(lastAt ?? 0, ...usage.map(({ createdAt }) => createdAt));
      return {
        ...agent,
        model: usage.at(-1)?.model ?? agent.model,
        totals: plus(settled, running),
        knownAt: told === 0 ? null : told,
        elapsedMs: now - agent.startedAt,
      };
    });
    return ok({ agents, ...ratesOf(agents) });
  },
};

const sum = (usage: readonly Usage[], count: "input" | "output" | "cacheRead" | "cacheWrite"): number =>
  usage.reduce((total, row) => total + row[count], 0);

function ratesOf(agents: readonly LiveCost[]): Omit<LiveCosts, "agents"> {
  const totals = totalOf(agents.map((agent) => agent.totals));
  const minutes = agents.reduce((all, { elapsedMs }) => all + elapsedMs, 0) / Math.max(1, agents.length) / 60_000;
  if (minutes <= 0) return { totals, usdPerMinute: null, tokensPerMinute: null };
  const isKnown = totals.turns > totals.unpriced;
  return {
    totals,
    usdPerMinute: isKnown ? totals.costMicros / 1_000_000 / minutes : null,
    tokensPerMinute: (totals.input + totals.output) / minutes,
  };
}
