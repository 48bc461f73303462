import { hasEnded } from "../agent/agent.ts";
import { isIn } from "../agent/capability.ts";
import { assess } from "./assess.ts";
import type { HealthFacts, HealthLimits } from "./facts.ts";
import { nextRungAt } from "./ladder.ts";

/**
 * In how many ms the passing of time alone could call for an action; undefined when it never will. Whatever else changes
 * an agent is written to the store, and whoever asks again then gets another answer. An action that is called for now is
 * due in 0 ms.
 */
export function nextChange(facts: HealthFacts, limits: HealthLimits): number | undefined {
  const { action } = assess(facts, limits);
  if (action.kind !== "none" && action.kind !== "investigate") return 0;
  if (hasEnded(facts.agent) || facts.agent.stopRequestedBy !== null) return undefined;
  const due = dueIn(facts, limits);
  return due === undefined ? undefined : Math.max(due, facts.sleptGraceMs);
}

function dueIn(facts: HealthFacts, limits: HealthLimits): number | undefined {
  const { agent, turn, queued, silentMs } = facts;
  const after = (thresholdMs: number, ageMs: number): number => Math.max(thresholdMs - ageMs + 1, 0);
  if (turn === null) {
    if (agent.worktreePath === null && agent.state === "booting") return after(limits.staleThresholdMs, silentMs);
    if (facts.parked || facts.unanswered || facts.waits > 0 || facts.liveChildren > 0) return undefined;
    if (queued !== null) return queued.slotFree ? after(limits.staleThresholdMs, queued.dueForMs) : undefined;
  }
  if (isIn("persistent", agent.capability)) return undefined;
  const rung = nextRungAt(stored(facts), limits) ?? Number.POSITIVE_INFINITY;
  return Math.min(
    after(limits.zombieThresholdMs, silentMs),
    Math.max(rung - silentMs, after(limits.staleThresholdMs, silentMs)),
  );
}

const stored = ({ agent }: HealthFacts): number | null => (agent.stalledSince === null ? null : agent.escalationLevel);
