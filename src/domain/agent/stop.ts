import type { AgentOutcome } from "./agent.ts";

/** How an agent ends that was asked to stop. */
export interface StopEnd {
  readonly state: "completed" | "zombie";
  readonly outcome: AgentOutcome;
  /** Whose side decided, as the audit and the notice name it. */
  readonly actor: "operator" | "watchdog";
  readonly reason: string;
}

/** Who asks in the name of the watchdog. */
export const watchdog = "watchdog";

/** The end by who asked for it: the watchdog gives up on an agent, anybody else lays it to rest. */
export function stopEnd(by: string): StopEnd {
  if (by === watchdog) {
    const reason = "it gave no sign of life, and the watchdog ended it";
    return { state: "zombie", outcome: "stalled", actor: watchdog, reason };
  }
  return { state: "completed", outcome: "stopped", actor: "operator", reason: `stopped by ${by}` };
}
