import { type Agent, agentStates, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { parseCapability } from "../../domain/agent/capability.ts";
import { isReserved } from "../../domain/name/name.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import type { UseCase } from "../usecase.ts";
import { findAgent } from "./find-agent.ts";

export interface DiscoverRequest {
  readonly capability?: string | undefined;
  readonly state?: string | undefined;
  readonly parent?: string | undefined;
  /** Ended agents too. */
  readonly all: boolean;
}

/** Live agents, narrowed down, to find one to ask or to hand work to. Nothing is stored by looking. */
export const discoverAgents: UseCase<DiscoverRequest, { readonly agents: readonly Agent[] }> = {
  kind: "read",
  request: fields({ all: flag }, { capability: text, state: text, parent: text }),
  run: async (tx, _context, request) => {
    const capability = request.capability === undefined ? ok(undefined) : parseCapability(request.capability);
    if (!capability.ok) return capability;
    const state = parseState(request.state);
    if (!state.ok) return state;
    const parent = await parentName(tx, request.parent);
    if (!parent.ok) return parent;
    const wanted = (agent: Agent): boolean =>
      (capability.value === undefined || agent.capability === capability.value) &&
      (state.value === undefined ? request.all || !hasEnded(agent) : agent.state === state.value);
    const agents = await tx.agents.list(parent.value === undefined ? {} : { parentName: parent.value });
    return ok({ agents: newestPerName(agents).filter(wanted) });
  },
};

function parseState(text: string | undefined): Result<string | undefined, Refusal> {
  if (text === undefined) return ok(undefined);
  const typed = text.trim().toLowerCase();
  if (agentStates.some((known) => known === typed)) return ok(typed);
  const near = nearest(typed, agentStates);
  const extra = { value: text, allowed: agentStates };
  return no(invalid("state", "is not a state", near === undefined ? extra : { ...extra, nearest: near }));
}

async function parentName(tx: Tx, text: string | undefined): Promise<Result<string | undefined, Refusal>> {
  if (text === undefined) return ok(undefined);
  const typed = text.trim().toLowerCase();
  if (isReserved(typed)) return ok(typed);
  const found = await findAgent(tx, text);
  return found.ok ? ok(found.value.name) : found;
}

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
