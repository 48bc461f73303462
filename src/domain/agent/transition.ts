import { no, ok, type Result } from "../result.ts";
import type { Agent, AgentOutcome, AgentState } from "./agent.ts";

/**
 * The state machine of an agent: row = from, entries = to.
 *
 *   booting        first output -> in_turn or working; a seat whose first turn ended unheard -> between_turns
 *   in_turn        turn settled -> between_turns; ended -> completed or zombie
 *   between_turns  next turn's first output -> in_turn
 *   stalled        recovers to any live state, or ends
 *   zombie         -> completed, by the operator's stop alone
 *   completed      final; work goes on only as the name's next generation
 */
const allowed: Record<AgentState, readonly AgentState[]> = {
  booting: ["working", "in_turn", "between_turns", "stalled", "completed", "zombie"],
  working: ["working", "stalled", "completed", "zombie"],
  in_turn: ["in_turn", "between_turns", "stalled", "completed", "zombie"],
  between_turns: ["in_turn", "between_turns", "stalled", "completed", "zombie"],
  stalled: ["working", "in_turn", "between_turns", "stalled", "completed", "zombie"],
  zombie: ["completed"],
  completed: [],
};

export interface TransitionRequest {
  readonly to: AgentState;
  /** The decider: `supervisor`, `engine`, `watchdog`, or the operator. */
  readonly actor: string;
  readonly reason: string;
  readonly outcome?: AgentOutcome;
}

export interface IllegalTransition {
  readonly kind: "illegal-transition";
  readonly from: AgentState;
  readonly to: AgentState;
}

/** The columns that change when the agent moves to its next state. */
export type TransitionChange = Pick<Agent, "state" | "stateVersion" | "outcome" | "endedAt">;

/** The only rule that produces a new agent state. An outcome, once set, stays. */
export function transition(
  agent: Pick<Agent, "state" | "stateVersion" | "outcome" | "endedAt">,
  request: TransitionRequest,
  now: number,
): Result<TransitionChange, IllegalTransition> {
  const { to } = request;
  const byOperatorOnly = agent.state === "zombie" && request.actor !== "operator";
  if (!allowed[agent.state].includes(to) || byOperatorOnly) {
    return no({ kind: "illegal-transition", from: agent.state, to });
  }
  const ends = to === "completed" || to === "zombie";
  return ok({
    state: to,
    stateVersion: agent.stateVersion + 1,
    outcome: agent.outcome ?? (ends ? (request.outcome ?? null) : null),
    endedAt: agent.endedAt ?? (ends ? now : null),
  });
}

/** How an agent ends that was asked to stop. */
interface StopEnd {
  readonly state: "completed" | "zombie";
  readonly outcome: AgentOutcome;
  /** The decider, as the audit and the notice name it. */
  readonly actor: "operator" | "watchdog";
  readonly reason: string;
}

/** The actor name of the watchdog. */
export const watchdog = "watchdog";

/** The end, by the actor that asked for it: the watchdog gives up on an agent, any other actor puts it to rest. */
export function stopEnd(by: string): StopEnd {
  if (by === watchdog) {
    const reason = "it gave no sign of life, and the watchdog ended it";
    return { state: "zombie", outcome: "stalled", actor: watchdog, reason };
  }
  return { state: "completed", outcome: "stopped", actor: "operator", reason: `stopped by ${by}` };
}
