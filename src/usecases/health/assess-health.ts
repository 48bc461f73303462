import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { type Assessment, assess } from "../../domain/health/assess.ts";
import type { HealthLimits } from "../../domain/health/facts.ts";
import { ok } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import { newestPerName } from "../status/newest-per-name.ts";
import type { UseCase } from "../usecase.ts";
import { storedFacts } from "./stored-facts.ts";

export interface AssessRequest {
  /** The thresholds to judge by: those of the project. */
  readonly limits: HealthLimits;
  /** Ended agents too. */
  readonly all?: boolean;
}

export interface AgentHealth {
  readonly agent: Agent;
  readonly assessment: Assessment;
  readonly quietMs: number;
  /** It has a running turn. */
  readonly inTurn: boolean;
}

export interface HealthReport {
  readonly now: number;
  readonly agents: readonly AgentHealth[];
}

/** How everybody is. A look stores nothing: what follows from it is for the engine's watchdog alone. */
export const assessHealth: UseCase<AssessRequest, HealthReport> = {
  kind: "read",
  run: async (tx, { now, settings }, { limits, all = false }) => {
    const agents: AgentHealth[] = [];
    for (const agent of newestPerName(await tx.agents.list(all ? {} : { live: true }))) {
      agents.push(await healthOf(tx, agent, { now, limits, maxTurns: settings.agents.maxConcurrent }));
    }
    return ok({ now, agents });
  },
};

/**
 * One look has no memory: a supervisor counts as beating, and the silence is what the clock says. So the answer may be
 * sterner than the watchdog's after the host slept, and is never acted on.
 */
async function healthOf(
  tx: Tx,
  agent: Agent,
  { now, limits, maxTurns }: { now: number; limits: HealthLimits; maxTurns: number },
): Promise<AgentHealth> {
  if (hasEnded(agent)) {
    const assessment = {
      status: "ended",
      level: agent.escalationLevel,
      action: { kind: "none" },
      note: agent.outcome,
    } as const;
    return { agent, assessment, quietMs: Math.max(0, now - agent.lastActivityAt), inTurn: false };
  }
  const stored = await storedFacts(tx, agent, { now, maxTurns });
  const quietMs = Math.max(0, now - stored.lastActivityAt);
  const turn = stored.running === undefined ? null : ({ supervisor: "beating" } as const);
  const facts = { ...stored, agent, turn, process: "unknown", silentMs: quietMs, quietMs, sleptGraceMs: 0 } as const;
  return { agent, assessment: assess(facts, limits), quietMs, inTurn: turn !== null };
}
