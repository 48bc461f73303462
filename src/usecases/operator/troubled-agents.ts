import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { endedInTrouble } from "../../domain/agent/status.ts";
import { type FailureCause, isTransient } from "../../domain/turn/failure.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";

/** What is wrong with an agent, by the last of its turns that ended. */
export interface Trouble {
  /** Why its last turn failed; null when it did not. */
  readonly problem: string | null;
  /** What sort of failure that was, and what a person can do about it. */
  readonly failure: FailureCause | null;
  readonly advice: string | null;
  /** When its next turn may start, for an agent that waits for that. */
  readonly nextTry: number | null;
}

export function troubleOf(agent: Pick<Agent, "state">, turns: readonly Turn[]): Trouble {
  const last = turns.findLast(({ endedAt, status }) => endedAt !== null && status !== "cancelled");
  if (last?.status !== "failed") return { problem: null, failure: null, advice: null, nextTry: null };
  const { error: problem, failure } = last;
  // "Wait until it passes" is no advice for an ended agent.
  const advice = hasEnded(agent) && isTransient(failure) ? null : last.advice;
  const next = turns.find(({ status }) => status === "queued");
  return { problem, failure, advice, nextTry: next === undefined || next.notBefore === 0 ? null : next.notBefore };
}

/** An agent that ended by a failure and that nobody but the operator can take up or let go. */
export interface TroubledAgent extends Trouble {
  readonly agent: Agent;
}

/** Whether the operator must act on it: every agent above it has ended, so no mail about it reaches an agent. */
export const needsOperator = async (tx: Tx, agent: Agent): Promise<boolean> =>
  endedInTrouble(agent) && (await nearestLiveAncestor(tx, agent.parentName)) === "operator";

/** Those of these agents that wait for the operator, each with its cause. */
export async function troubledAgents(tx: Tx, agents: readonly Agent[]): Promise<readonly TroubledAgent[]> {
  const found: TroubledAgent[] = [];
  for (const agent of agents)
    if (await needsOperator(tx, agent)) found.push({ agent, ...troubleOf(agent, await tx.turns.listFor(agent.id)) });
  return found;
}
