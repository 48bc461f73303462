import type { CostSource } from "../prices/prices.ts";
import type { FailureCause } from "./failure.ts";

/** Why a turn was queued. */
export const turnTriggers = ["spawn", "mail", "reminder", "retry", "nudge"] as const;
export type TurnTrigger = (typeof turnTriggers)[number];

/** Triggers of turns that mail starts. Any other turn is queued with its reason. */
export type MailTrigger = Extract<TurnTrigger, "spawn" | "mail">;

/**
 * queued     waits for the dispatcher
 * running    claimed; a supervisor owns it by lease and fence
 * settled    ended, and its input is acknowledged
 * failed     ended badly; the failure policy decided what follows
 * lost       its process is gone without a result
 * cancelled  never started: stopped, or its input was already read
 */
export const turnStatuses = ["queued", "running", "settled", "failed", "lost", "cancelled"] as const;
export type TurnStatus = (typeof turnStatuses)[number];

/** One invocation of a runtime, from input to outcome. A row is both queue entry and history. */
export interface Turn {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly runId: string;
  readonly trigger: TurnTrigger;
  /** Why it starts, where no mail starts it: words without a subject of "you" or "it". Null for turns of earlier versions too. */
  readonly reason: string | null;
  readonly status: TurnStatus;
  /** How often this input was tried, this turn included. */
  readonly attempt: number;
  readonly notBefore: number;
  /** Grows with each supervisor that takes the turn over; every write of a supervisor names its fence. */
  readonly fence: number;
  readonly resumeRequested: string | null;
  readonly resumeObserved: string | null;
  readonly logDir: string | null;
  /** Bytes and lines of the output file already stored as events. */
  readonly outputOffset: number;
  readonly outputLines: number;
  readonly clean: boolean | null;
  readonly resultText: string | null;
  readonly exitCode: number | null;
  readonly exitSignal: string | null;
  readonly terminalMessageSeq: number | null;
  readonly error: string | null;
  /** What sort of failure `error` is, and what a person can do about it. */
  readonly failure: FailureCause | null;
  readonly advice: string | null;
  /** The version of its role's text that it was told. */
  readonly prompt: string | null;
  /** The cost in millionths of a dollar; null when unknown. */
  readonly costMicros: number | null;
  /** Null before its end, and for turns of earlier versions. */
  readonly costSource: CostSource | null;
  /** Of the list of prices by which the cost was reckoned. It is never reckoned again. */
  readonly priceVersion: string | null;
  readonly queuedAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
}
