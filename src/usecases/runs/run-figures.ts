import { noSpending, type SpendingTotals } from "../../domain/cost/spending.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { type Run, runDuration } from "../../domain/run/run.ts";
import { fields, whole } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { coordinationShare } from "../costs/cost-series.ts";
import type { UseCase } from "../usecase.ts";

/** How a run went, in figures. */
export interface RunFigures {
  readonly run: Run;
  readonly durationMs: number;
  /** Distinct names. */
  readonly agents: number;
  readonly liveAgents: number;
  /** Branches that landed and stayed; that were taken back; that could not land. */
  readonly landed: number;
  readonly reverted: number;
  readonly failed: number;
  readonly totals: SpendingTotals;
  /** The part of the dollars that went into leading others, in percent. */
  readonly coordinationShare: number | null;
}

/** The newest runs in figures, newest first. */
export const runFigures: UseCase<{ readonly last: number }, { readonly runs: readonly RunFigures[] }> = {
  kind: "read",
  request: fields({ last: whole }),
  run: async (tx, { now }, { last }) => {
    if (last < 1) return no(invalid("last", "must be a whole number of 1 or more", { value: String(last) }));
    const runs: RunFigures[] = [];
    for (const run of await tx.runs.list(last)) runs.push(await figuresOf(tx, run, now));
    return ok({ runs });
  },
};

async function figuresOf(tx: Tx, run: Run, now: number): Promise<RunFigures> {
  const agents = await tx.agents.list({ runId: run.id });
  const live = await tx.agents.list({ runId: run.id, live: true });
  const entries = await tx.merges.list({ runId: run.id });
  const count = (...statuses: readonly string[]): number =>
    entries.filter(({ status }) => statuses.includes(status)).length;
  const [sum] = await tx.spending.sumsOf("run", [run.id]);
  return {
    run,
    durationMs: runDuration(run, now),
    agents: new Set(agents.map(({ name }) => name)).size,
    liveAgents: live.length,
    landed: count("merged"),
    reverted: count("reverted"),
    failed: count("failed", "conflict"),
    totals: sum ?? noSpending,
    coordinationShare: await coordinationShare(tx, { runId: run.id }),
  };
}
