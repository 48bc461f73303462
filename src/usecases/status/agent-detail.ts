import type { Agent } from "../../domain/agent/agent.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { UseCase } from "../usecase.ts";

/** One agent and its turns. */
export const agentDetail: UseCase<
  { readonly name: string },
  { readonly agent: Agent; readonly turns: readonly Turn[] }
> = {
  kind: "read",
  request: fields({ name: text }),
  run: async (tx, _context, { name }) => {
    const agent = await tx.agents.byName(name);
    if (agent === undefined) return no(notFound("agent", name, nearest(name, await tx.agents.names())));
    return ok({ agent, turns: await tx.turns.listFor(agent.id) });
  },
};
