import type { Agent } from "../../domain/agent/agent.ts";
import { type TransitionRequest, transition } from "../../domain/agent/transition.ts";
import type { Tx } from "../../ports/store.ts";

/** Moves an agent, audited, in the caller's transaction. False when the state machine or a faster writer forbids it. */
export async function changeState(tx: Tx, agent: Agent, request: TransitionRequest, now: number): Promise<boolean> {
  const change = transition(agent, request, now);
  if (!change.ok) return false;
  return tx.agents.move(agent, change.value, request, now);
}
