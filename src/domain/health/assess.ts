import { type Agent, hasEnded } from "../agent/agent.ts";
import { isIn } from "../agent/capability.ts";
import { climb, type HealthLimits, type LadderStep, nextRungAt } from "./ladder.ts";

/**
 * The facts about one agent at one moment. The observer measures ages as durations; no caller computes them as
 * differences. They count from the agent's own activity (its events, output and mail), never from acts of others.
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
  /** It asked a question, or for a decision, and has no answer yet. */
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
  /** The rest of the time in which ages mean nothing, because the host slept. */
  readonly sleptGraceMs: number;
}

/**
 * How an agent does, for display.
 *
 *   working   a turn runs, or an attached process was active lately
 *   stalled   no sign of it for longer than the threshold
 *   waiting   idle on purpose: children, an answer, a wait
 *   parked    a rate limit, a budget or the operator holds it
 *   queued    its next turn waits for its time or for a slot
 *   late      the engine should have started its turn, or prepared its worktree, long ago
 *   idle      between turns with nothing to do
 *   stopping  asked to stop
 *   gone      its process is gone, or its silence is beyond hope
 *   ended     completed or zombie
 */
export const healthStatuses = [
  "working",
  "stalled",
  "waiting",
  "parked",
  "queued",
  "late",
  "idle",
  "stopping",
  "gone",
  "ended",
] as const;
export type HealthStatus = (typeof healthStatuses)[number];

/**
 *   recover      it was stalled and is not any more: back to its substate
 *   report       the engine is late; nothing is held against the agent
 *   escalate     one step of the ladder, once
 *   terminate    it is given up
 *   complete     it finished, and only the signal was missed
 *   investigate  a contradiction that a person should look at; never acted on
 */
export type HealthAction =
  | { readonly kind: "none" }
  | { readonly kind: "recover" }
  | { readonly kind: "report"; readonly problem: "turn_late" | "seat_late" }
  | { readonly kind: "escalate"; readonly step: Exclude<LadderStep, "terminate"> }
  | { readonly kind: "terminate"; readonly outcome: "stalled" | "crashed"; readonly reason: string }
  | { readonly kind: "complete"; readonly reason: string }
  | { readonly kind: "investigate" };

export interface Assessment {
  readonly status: HealthStatus;
  /** The level of the ladder after the action. */
  readonly level: number;
  readonly action: HealthAction;
  readonly note: string | null;
}

/** The health of an agent, and the next act. The first match wins; observations outrank records. */
export function assess(facts: HealthFacts, limits: HealthLimits): Assessment {
  const { agent, turn } = facts;
  if (hasEnded(agent)) return ended(facts);
  if (agent.stopRequestedBy !== null) {
    return { status: "stopping", level: agent.escalationLevel, action: none, note: `by ${agent.stopRequestedBy}` };
  }
  if (turn?.supervisor === "beating") return supervised(facts, limits);
  if (agent.topology === "attached" && facts.process === "gone") return processGone(facts, limits);
  if (turn === null) {
    if (agent.worktreePath === null && agent.state === "booting") return unseated(facts, limits);
    const excuse = excuseOf(facts);
    if (excuse !== undefined) return excused(facts, excuse);
    if (facts.queued !== null) return queued(facts, facts.queued, limits);
  }
  if (isIn("persistent", agent.capability)) return excused(facts, { status: "idle", note: null });
  return byAge(facts, limits);
}

const none = { kind: "none" } as const;

function ended({ agent, process }: HealthFacts): Assessment {
  const level = agent.escalationLevel;
  const contradicts = agent.state === "zombie" && agent.topology === "attached" && process === "alive";
  if (!contradicts) return { status: "ended", level, action: none, note: agent.outcome };
  return { status: "ended", level, action: { kind: "investigate" }, note: "given up, but its process is alive" };
}

/** A live supervisor has the stall timer of its turn, so the watchdog leaves the turn to it. */
function supervised(facts: HealthFacts, limits: HealthLimits): Assessment {
  if (facts.quietMs <= limits.staleThresholdMs) return calm(facts, "working");
  if (facts.waits > 0) return { ...calm(facts, "waiting"), note: "for its gates" };
  return { ...calm(facts, "stalled"), note: "its turn shows no output; its supervisor watches it" };
}

function processGone(facts: HealthFacts, limits: HealthLimits): Assessment {
  const { agent, silentMs } = facts;
  const level = agent.escalationLevel;
  const wasAtWork = agent.state === "working" || agent.state === "booting" || agent.state === "stalled";
  if (wasAtWork && silentMs > limits.staleThresholdMs) {
    const reason = "its process is gone and it had been silent: assumed to have finished";
    return { status: "gone", level, action: { kind: "complete", reason }, note: reason };
  }
  const reason = "its process is gone";
  return { status: "gone", level, action: { kind: "terminate", outcome: "crashed", reason }, note: reason };
}

function unseated(facts: HealthFacts, limits: HealthLimits): Assessment {
  if (facts.sleptGraceMs > 0 || facts.silentMs <= limits.staleThresholdMs) return calm(facts, "queued");
  const action = { kind: "report", problem: "seat_late" } as const;
  return { ...calm(facts, "late"), action, note: "it still has no worktree" };
}

interface Excuse {
  readonly status: HealthStatus;
  readonly note: string | null;
}

function excuseOf(facts: HealthFacts): Excuse | undefined {
  if (facts.parked) return { status: "parked", note: null };
  if (facts.unanswered) return { status: "waiting", note: "for an answer" };
  if (facts.liveChildren > 0) return { status: "waiting", note: "for its children" };
  return facts.waits > 0 ? { status: "waiting", note: null } : undefined;
}

function queued(facts: HealthFacts, turn: NonNullable<HealthFacts["queued"]>, limits: HealthLimits): Assessment {
  const late = turn.slotFree && turn.dueForMs > limits.staleThresholdMs && facts.sleptGraceMs <= 0;
  if (!late) return calm(facts, "queued");
  const action = { kind: "report", problem: "turn_late" } as const;
  return { ...calm(facts, "late"), action, note: "its turn could have started" };
}

function byAge(facts: HealthFacts, limits: HealthLimits): Assessment {
  const { agent, silentMs } = facts;
  if (facts.sleptGraceMs > 0 || silentMs <= limits.staleThresholdMs) return calm(facts, statusOfYoung(facts));
  if (silentMs > limits.zombieThresholdMs) return givenUp(limits, "it gave no sign of life for too long");
  const { level, step } = climb(
    { silentMs, level: agent.stalledSince === null ? null : agent.escalationLevel },
    limits,
  );
  if (step === "terminate") return givenUp(limits, "it gave no sign of life, and nudging did not help");
  if (step === null) return { status: "stalled", level, action: none, note: null };
  return { status: "stalled", level, action: { kind: "escalate", step }, note: null };
}

function statusOfYoung({ agent, turn, activeSinceStall }: HealthFacts): HealthStatus {
  if (agent.state === "stalled" && !activeSinceStall) return "stalled";
  return agent.topology === "attached" || turn !== null ? "working" : "idle";
}

function givenUp({ maxEscalationLevel }: HealthLimits, reason: string): Assessment {
  const action = { kind: "terminate", outcome: "stalled", reason } as const;
  return { status: "gone", level: maxEscalationLevel, action, note: reason };
}

/** The agent is healthy. Only a sign of its own ends a stall, never an act of the watchdog. */
function calm(facts: HealthFacts, status: HealthStatus): Assessment {
  const { agent, activeSinceStall } = facts;
  const over = agent.stalledSince !== null && (activeSinceStall || agent.state !== "stalled");
  return over ? recovered(status, null) : { status, level: agent.escalationLevel, action: none, note: null };
}

/** Idle for a good reason: earlier suspicion is dropped. */
function excused({ agent }: HealthFacts, { status, note }: Excuse): Assessment {
  if (agent.stalledSince !== null || agent.state === "stalled") return recovered(status, note);
  return { status, level: 0, action: none, note };
}

const recovered = (status: HealthStatus, note: string | null): Assessment => ({
  status,
  level: 0,
  action: { kind: "recover" },
  note,
});

/**
 * In how many ms the passing of time alone could call for an action; undefined when it never will. Any other change of
 * an agent is written to the store, and a later question then gets another answer. An action that is called for now is
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
