import type { Agent } from "../../domain/agent/agent.ts";
import { type Run, type RunStatus, runDuration } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { type MergeCounts, mergeCounts } from "../merge/queue-state.ts";
import { openDecisions } from "../operator/decisions.ts";

export interface RunDetail {
  readonly run: Run;
  /** Distinct names, the coordinator included; a reopened agent counts once. */
  readonly agentCount: number;
  /** The newest incarnation of its coordinator. */
  readonly coordinatorId: string | null;
  readonly durationMs: number;
  /** `needs operator`: it is active, and a branch or an agent of it waits for a person's word. */
  readonly status: RunStatus | "needs operator";
  /** Numbers of the merges that wait for approval. */
  readonly approvals: readonly number[];
  readonly merges: MergeCounts;
}

export async function runDetail(tx: Tx, run: Run, now: number): Promise<RunDetail> {
  const detail = describe(run, await tx.agents.list({ runId: run.id }), await mergeCounts(tx, { runId: run.id }), now);
  return { ...detail, status: await statusOf(tx, detail) };
}

/** The status with the questions of its agents taken into account. */
export async function statusOf(tx: Tx, { run, status }: RunDetail): Promise<RunDetail["status"]> {
  if (status !== "active") return status;
  return (await openDecisions(tx, { runId: run.id })).length > 0 ? "needs operator" : status;
}

export function describe(run: Run, agents: readonly Agent[], merges: MergeCounts, now: number): RunDetail {
  const { approvals } = merges;
  const coordinators = agents.filter((agent) => agent.name === run.coordinatorName);
  const newest = coordinators.sort((a, b) => b.generation - a.generation)[0];
  return {
    run,
    agentCount: new Set(agents.map((agent) => agent.name)).size,
    coordinatorId: newest?.id ?? null,
    durationMs: runDuration(run, now),
    status: run.status === "active" && approvals.length > 0 ? "needs operator" : run.status,
    approvals,
    merges,
  };
}
