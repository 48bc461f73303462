import type { AgentOutcome, AgentState } from "../agent/agent.ts";
import { stopEnd, watchdog } from "../agent/stop.ts";
import type { TurnStatus } from "./turn.ts";

/** How the agent's process ended, as far as its output and exit tell. */
export type TurnEnd =
  | { readonly kind: "clean" }
  /** `permanent`: it would fail again in the same way, however often it is tried. */
  | { readonly kind: "failed"; readonly reason: string; readonly permanent?: boolean }
  | { readonly kind: "rate-limited"; readonly resetAt: number | null }
  | { readonly kind: "stalled" };

export interface SettleFacts {
  readonly end: TurnEnd;
  /** Who asked the agent to stop, if anybody did. */
  readonly stopRequestedBy: string | null;
  /** A person waits to take the agent over, and may have ended the turn for it. */
  readonly takenOver?: boolean;
  /** A terminal message was stored while this turn was running. */
  readonly terminalMail: boolean;
  /** The agent has waits, or mail that wakes it is already queued. */
  readonly outstanding: boolean;
  readonly persistent: boolean;
  readonly reminders: number;
  readonly maxReminders: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Rate limits in a row before this one. */
  readonly parksBefore: number;
  readonly now: number;
}

/** What follows a turn. `input` says what becomes of the deliveries it carried. */
export interface Settlement {
  readonly turn: TurnStatus;
  readonly state: AgentState;
  readonly outcome: AgentOutcome | null;
  readonly input: "ack" | "keep" | "dead";
  readonly next:
    | { readonly kind: "none" }
    | { readonly kind: "reminder" }
    | { readonly kind: "retry"; readonly notBefore: number; readonly countsAttempt: boolean };
  /** Why the parent must be told that its agent ended without finishing. */
  readonly death: string | null;
}

/** Back-off before attempts 2, 3 and 4 of one input. */
const backOffMs = [5_000, 30_000, 120_000] as const;
const firstParkMs = 60_000;
const longestParkMs = 15 * 60_000;

/** How long to stay parked when a rate limit does not say when it lifts: a minute, doubling to a quarter of an hour. */
export const parkFor = (parksBefore: number): number =>
  Math.min(firstParkMs * 2 ** Math.min(parksBefore, 10), longestParkMs);

/**
 * Decides what a turn's end means. First match wins: a terminal message outranks any later failure of the process, and
 * so it outranks the watchdog, which ends an agent because it failed; a person's stop outranks both.
 */
export function settle(facts: SettleFacts): Settlement {
  const none = { kind: "none" } as const;
  const by = facts.stopRequestedBy;
  if (by !== null && !(by === watchdog && facts.terminalMail)) {
    const { state, outcome, reason: death } = stopEnd(by);
    return { turn: state === "zombie" ? "failed" : "settled", state, outcome, input: "keep", next: none, death };
  }
  if (facts.terminalMail) {
    return { turn: "settled", state: "completed", outcome: "done", input: "ack", next: none, death: null };
  }
  if (facts.end.kind === "rate-limited") {
    const notBefore = facts.end.resetAt ?? facts.now + parkFor(facts.parksBefore);
    const next = { kind: "retry", notBefore, countsAttempt: false } as const;
    return { turn: "failed", state: "between_turns", outcome: null, input: "keep", next, death: null };
  }
  if (facts.end.kind !== "clean" && facts.takenOver === true) {
    // Its input waits for the time after, and nothing is held against it.
    const next = { kind: "retry", notBefore: facts.now, countsAttempt: false } as const;
    return { turn: "settled", state: "between_turns", outcome: null, input: "keep", next, death: null };
  }
  if (facts.end.kind !== "clean") return settleFailure(facts, facts.end);
  if (facts.outstanding || facts.persistent) {
    return { turn: "settled", state: "between_turns", outcome: null, input: "ack", next: none, death: null };
  }
  if (facts.reminders < facts.maxReminders) {
    const next = { kind: "reminder" } as const;
    return { turn: "settled", state: "between_turns", outcome: null, input: "ack", next, death: null };
  }
  const death = "its turns ended without a terminal message";
  return { turn: "settled", state: "completed", outcome: "no_signal", input: "ack", next: none, death };
}

function settleFailure(facts: SettleFacts, end: Extract<TurnEnd, { kind: "failed" | "stalled" }>): Settlement {
  const reason = end.kind === "stalled" ? "it went silent" : end.reason;
  const hopeless = end.kind === "failed" && end.permanent === true;
  if (hopeless || facts.attempt >= facts.maxAttempts) {
    const outcome = end.kind === "stalled" ? "stalled" : "crashed";
    return { turn: "failed", state: "zombie", outcome, input: "dead", next: { kind: "none" }, death: reason };
  }
  const wait = backOffMs[Math.min(facts.attempt, backOffMs.length) - 1] ?? backOffMs[0];
  const next = { kind: "retry", notBefore: facts.now + wait, countsAttempt: true } as const;
  return { turn: "failed", state: "between_turns", outcome: null, input: "keep", next, death: null };
}
