import type { Agent } from "../../domain/agent/agent.ts";
import { hasEnded } from "../../domain/agent/agent.ts";
import { ok } from "../../domain/result.ts";
import { fields, oneOf, text } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Wait } from "../../ports/store/agents.ts";
import type { Stream } from "../operation.ts";
import { type OpenDecision, type OpenQuestion, openDecisions, openQuestions } from "../operator/decisions.ts";
import { standingOf, type Trouble } from "../operator/troubled-agents.ts";
import type { UseCase } from "../usecase.ts";
import { findAgent } from "./find-agent.ts";

/** Where one agent stands: what it waits for, why its last turn failed, and, for the operator alone, what it asked. */
export interface FollowedAgent extends Trouble {
  readonly agent: Agent;
  readonly waits: readonly Wait[];
  readonly decisions: readonly OpenDecision[];
  readonly questions: readonly OpenQuestion[];
}

/** One agent, what keeps it, and its turns. */
export const agentStanding: UseCase<{ readonly name: string }, FollowedAgent & { readonly turns: readonly Turn[] }> = {
  kind: "read",
  request: fields({ name: text }),
  run: async (tx, { caller }, { name }) => {
    const found = await findAgent(tx, name);
    if (!found.ok) return found;
    const agent = found.value;
    const turns = await tx.turns.listFor(agent.id);
    const { needsOperator: _, ...trouble } = await standingOf(tx, agent, turns);
    const isShown = caller.kind === "operator" && !hasEnded(agent);
    const isOfAgent = ({ from }: { readonly from: string }): boolean => isShown && from === agent.name;
    const [decisions, questions] = [await openDecisions(tx, agent), await openQuestions(tx, agent)];
    return ok({
      ...trouble,
      agent,
      turns,
      waits: await tx.waits.of(agent.name),
      decisions: decisions.filter(isOfAgent),
      questions: questions.filter(isOfAgent),
    });
  },
};

export interface FollowAgentRequest {
  readonly name: string;
  /** `first-turn`: until its first turn is over, or the agent is. */
  readonly until: "first-turn" | "end";
}

/**
 * Waits until an agent has come so far. Each item says what keeps it between two turns. Null when it cannot be looked at any
 * more.
 */
export const followAgent: Stream<FollowAgentRequest, { readonly stands: FollowedAgent | null }, FollowedAgent> = {
  kind: "stream",
  request: fields({ name: text, until: oneOf(["first-turn", "end"]) }),
  place: "engine",
  run: async (world, { name, until }, { onItem }) =>
    world.until(async () => {
      const found = await world.call("agent.readStanding", { name });
      if (!found.ok) return ok({ stands: null });
      const { turns, ...stands } = found.value;
      const firstIsOver = turns.some((turn) => turn.startedAt !== null && turn.endedAt !== null);
      if (hasEnded(stands.agent) || (until === "first-turn" && firstIsOver)) return ok({ stands });
      if (stands.agent.state === "between_turns") onItem(stands);
      return undefined;
    }),
};
