import { type Agent, agentStates, hasEnded } from "../../domain/agent/agent.ts";
import { parseCapability } from "../../domain/agent/capability.ts";
import { isReserved } from "../../domain/name/name.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { newestPerName } from "../status/newest-per-name.ts";
import type { UseCase } from "../usecase.ts";
import { findAgent } from "./subordinate.ts";

export interface DiscoverRequest {
  readonly capability?: string | undefined;
  readonly state?: string | undefined;
  readonly parent?: string | undefined;
  /** Ended agents too. */
  readonly all: boolean;
}

/** Who could be asked or handed work: live agents, narrowed down. Nothing is stored by looking. */
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
