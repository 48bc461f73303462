import type { AgentOutcome, AgentState } from "../agent/agent.ts";
import { stopEnd, watchdog } from "../agent/transition.ts";
import { type FailureCause, failures } from "./failure.ts";
import { reasonWith } from "./program-words.ts";
import type { TurnStatus } from "./turn.ts";

/** How the agent's process ended, as far as its output and exit tell. `resetAt`: when what it waits for is over, if that was said. */
export type TurnEnd =
  | { readonly kind: "clean" }
  | {
      readonly kind: "failed";
      readonly cause: FailureCause;
      readonly reason: string;
      readonly resetAt?: number | null;
    }
  /** `said`: what the program wrote for a person before. */
  | { readonly kind: "stalled"; readonly said?: string };

type Failed = Extract<TurnEnd, { kind: "failed" | "stalled" }>;

export interface SettleFacts {
  readonly end: TurnEnd;
  /** The actor that asked the agent to stop, if there was one. */
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
  /** Failures in a row before this one, of kinds that pass by themselves. */
  readonly parksBefore: number;
  /** The turn went on with an earlier conversation. */
  readonly resumed: boolean;
  /** The turn cost something. */
  readonly spent: boolean;
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
  /** The next turn begins a new conversation. */
  readonly forgetsConversation?: boolean;
  /** Why the parent must be told that its agent ended without finishing. */
  readonly death: string | null;
}

/** Back-off before attempts 2, 3 and 4 of one input. */
const backOffMs = [5_000, 30_000, 120_000] as const;
const firstParkMs = { rate_limit: 60_000, other: 10_000 } as const;
const longestParkMs = 15 * 60_000;

/**
 * How long to stay parked without a stated end: doubling from a minute (a limit) or ten seconds to a quarter of an
 * hour.
 */
export const parkFor = (parksBefore: number, cause: FailureCause): number => {
  const first = cause === "rate_limit" ? firstParkMs.rate_limit : firstParkMs.other;
  return Math.min(first * 2 ** Math.min(parksBefore, 10), longestParkMs);
};

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
  if (facts.end.kind === "failed" && failures[facts.end.cause].policy === "wait") {
    return again(facts.end.resetAt ?? facts.now + parkFor(facts.parksBefore, facts.end.cause), {
      countsAttempt: false,
    });
  }
  if (facts.end.kind !== "clean" && facts.takenOver === true) {
    // Its input waits for the time after, and nothing is held against it.
    return { ...again(facts.now, { countsAttempt: false }), turn: "settled" };
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

function settleFailure(facts: SettleFacts, end: Failed): Settlement {
  const policy = end.kind === "stalled" ? "retry" : failures[end.cause].policy;
  if (policy === "fresh" && facts.resumed)
    return { ...again(facts.now, { countsAttempt: false }), forgetsConversation: true };
  // An agent that ran out of money before anything was spent would do so for ever.
  if (policy === "budget" && facts.spent) return again(facts.now, { countsAttempt: false });
  if (policy === "end" || policy === "fresh" || facts.attempt >= facts.maxAttempts) {
    const outcome = end.kind === "stalled" ? "stalled" : "crashed";
    const death = end.kind === "stalled" ? reasonWith("it went silent", end.said ?? "") : end.reason;
    return { turn: "failed", state: "zombie", outcome, input: "dead", next: { kind: "none" }, death };
  }
  return again(facts.now + (backOffMs[Math.min(facts.attempt, backOffMs.length) - 1] ?? backOffMs[0]), {
    countsAttempt: true,
  });
}

/** The same input once more. */
const again = (notBefore: number, { countsAttempt }: { readonly countsAttempt: boolean }): Settlement => ({
  turn: "failed",
  state: "between_turns",
  outcome: null,
  input: "keep",
  next: { kind: "retry", notBefore, countsAttempt },
  death: null,
});
