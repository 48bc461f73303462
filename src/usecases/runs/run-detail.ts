import type { Agent } from "../../domain/agent/agent.ts";
import { runDuration } from "../../domain/run/duration.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";

export interface RunDetail {
  readonly run: Run;
  /** Distinct names, the coordinator included; a reopened agent counts once. */
  readonly agentCount: number;
  /** The newest incarnation of its coordinator. */
  readonly coordinatorId: string | null;
  readonly durationMs: number;
}

export async function runDetail(tx: Tx, run: Run, now: number): Promise<RunDetail> {
  return describe(run, await tx.agents.list({ runId: run.id }), now);
}

export function describe(run: Run, agents: readonly Agent[], now: number): RunDetail {
  const coordinators = agents.filter((agent) => agent.name === run.coordinatorName);
  const newest = coordinators.sort((a, b) => b.generation - a.generation)[0];
  return {
    run,
    agentCount: new Set(agents.map((agent) => agent.name)).size,
    coordinatorId: newest?.id ?? null,
    durationMs: runDuration(run, now),
  };
}
