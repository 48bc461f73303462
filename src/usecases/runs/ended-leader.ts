import { hasEnded } from "../../domain/agent/agent.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import type { LedRun } from "../agents/stop.ts";

/** The agent that led the run and has ended, so that the run has no leader; null while it lives, or none led it. */
export async function endedLeaderOf(tx: Tx, { id: runId, coordinatorName }: Run): Promise<LedRun | null> {
  const leader = coordinatorName === null ? undefined : await tx.agents.byName(coordinatorName);
  if (leader === undefined || leader.runId !== runId || !hasEnded(leader)) return null;
  return { runId, coordinatorName: leader.name, capability: leader.capability };
}
