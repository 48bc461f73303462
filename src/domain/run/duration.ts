import { type Agent, hasEnded } from "../agent/agent.ts";
import type { Run } from "./run.ts";

/** Milliseconds from the start to the end, or to now while the run is active. */
export const runDuration = (run: Pick<Run, "startedAt" | "completedAt">, now: number): number =>
  Math.max(0, (run.completedAt ?? now) - run.startedAt);

/** Milliseconds an agent has been at it; one that has ended stopped counting with its last sign of activity. */
export const agentDuration = (agent: Pick<Agent, "state" | "startedAt" | "lastActivityAt">, now: number): number =>
  Math.max(0, (hasEnded(agent) ? agent.lastActivityAt : now) - agent.startedAt);
