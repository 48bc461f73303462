import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { ok } from "../../domain/result.ts";
import { fields, oneOf, text } from "../../domain/schema/schema.ts";
import type { Stream } from "../operation.ts";

export interface FollowAgentRequest {
  readonly name: string;
  /** `first-turn`: until its first turn is over, or the agent is. */
  readonly until: "first-turn" | "end";
}

/** Waits until an agent has come so far. Null when it cannot be looked at any more. */
export const followAgent: Stream<FollowAgentRequest, { readonly agent: Agent | null }, never> = {
  kind: "stream",
  request: fields({ name: text, until: oneOf(["first-turn", "end"]) }),
  place: "engine",
  run: async (world, { name, until }) =>
    world.until(async () => {
      const detail = await world.call("status.agent", { name });
      if (!detail.ok) return ok({ agent: null });
      const { agent, turns } = detail.value;
      const firstIsOver = turns.some((turn) => turn.startedAt !== null && turn.endedAt !== null);
      if (!hasEnded(agent) && (until === "end" || !firstIsOver)) return undefined;
      return ok({ agent });
    }),
};
