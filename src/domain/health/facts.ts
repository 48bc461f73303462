import type { Agent } from "../agent/agent.ts";

/** The thresholds of the watchdog, by the names of their settings. */
export interface HealthLimits {
  /** Silent for longer is stalled. */
  readonly staleThresholdMs: number;
  /** Silent for longer is given up, whatever the ladder says. */
  readonly zombieThresholdMs: number;
  /** Time between the steps of the ladder. */
  readonly nudgeIntervalMs: number;
  /** The step at which the agent is ended. */
  readonly maxEscalationLevel: number;
}

/**
 * What is known about one agent at one moment. Ages are durations that the observer measured, never differences it was
 * told: what they count from is the agent's own activity (its events, output and mail), not what others did about it.
 */
export interface HealthFacts {
  readonly agent: Pick<
    Agent,
    | "state"
    | "topology"
    | "capability"
    | "worktreePath"
    | "outcome"
    | "stopRequestedBy"
    | "escalationLevel"
    | "stalledSince"
  >;
  /** Its running turn, if any, and whether the supervisor's lease was seen beating. */
  readonly turn: { readonly supervisor: "beating" | "silent" } | null;
  /** The process of an attached agent; `unknown` when none is recorded or the system cannot tell. */
  readonly process: "alive" | "gone" | "unknown";
  /** Its queued turn: for how long it could have started (negative: not due yet), and whether a slot is free. */
  readonly queued: { readonly dueForMs: number; readonly slotFree: boolean } | null;
  /** A rate limit, a budget or the operator keeps its input from starting turns. */
  readonly parked: boolean;
  /** It asked something, or for a decision, and nobody answered yet. */
  readonly unanswered: boolean;
  /** Other things it waits for on purpose. */
  readonly waits: number;
  readonly liveChildren: number;
  /** How long the observer has watched it, unexcused, without a sign of its own and without a beat of its supervisor. */
  readonly silentMs: number;
  /** Time since its own last activity; for display only. */
  readonly quietMs: number;
  /** It was active by itself after it had been found stalled. */
  readonly activeSinceStall: boolean;
  /** What is left of the time in which ages mean nothing, because the host slept. */
  readonly sleptGraceMs: number;
}
