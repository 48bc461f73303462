/** The thresholds of the watchdog, by the names of their settings. */
export interface HealthLimits {
  /** Silent for longer is stalled. */
  readonly staleThresholdMs: number;
  /** An agent that is silent for longer is given up, at any step of the ladder. */
  readonly zombieThresholdMs: number;
  /** Time between the steps of the ladder. */
  readonly nudgeIntervalMs: number;
  /** The step at which the agent is ended. */
  readonly maxEscalationLevel: number;
}

/** The acts about a silent agent, mildest first. */
export const ladderSteps = ["warn", "nudge", "triage", "terminate"] as const;
export type LadderStep = (typeof ladderSteps)[number];

export interface Rung {
  readonly level: number;
  /** What reaching the level calls for; null when the agent stood on it before, for each level acts once. */
  readonly step: LadderStep | null;
}

export interface Climb {
  readonly silentMs: number;
  /** The level acted on last; null when the agent was not stalled. */
  readonly level: number | null;
}

/**
 * Where a stalled agent stands. One level per interval of silence, one level per look: a look that comes late must not
 * end an agent that was never nudged. Between the nudge and the end, longer ladders ask and nudge in turn.
 */
export function climb({ silentMs, level }: Climb, limits: HealthLimits): Rung {
  const reached = Math.floor((silentMs - limits.staleThresholdMs) / limits.nudgeIntervalMs);
  const next = Math.min(reached, nextLevel(level), limits.maxEscalationLevel);
  if (level !== null && next <= level) return { level, step: null };
  return { level: Math.max(next, 0), step: stepAt(Math.max(next, 0), limits) };
}

/** The silence at which the next level is reached; undefined at the top. */
export function nextRungAt(level: number | null, limits: HealthLimits): number | undefined {
  if (level !== null && level >= limits.maxEscalationLevel) return undefined;
  return limits.staleThresholdMs + nextLevel(level) * limits.nudgeIntervalMs;
}

const nextLevel = (level: number | null): number => (level === null ? 0 : level + 1);

function stepAt(level: number, { maxEscalationLevel }: HealthLimits): LadderStep {
  if (level >= maxEscalationLevel) return "terminate";
  if (level === 0) return "warn";
  return level % 2 === 1 ? "nudge" : "triage";
}
