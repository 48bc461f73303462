import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Capability } from "../../domain/agent/capability.ts";
import { stopEnd } from "../../domain/agent/transition.ts";
import type { ProcessIdentity, ProcessRole } from "../../domain/process/process.ts";
import { ok } from "../../domain/result.ts";
import { fields, flag, list, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { endAgent } from "./end-agent.ts";
import { descendantsOf, findSubordinate } from "./subordinate.ts";

export interface StopOrder {
  readonly name: string;
  /** Also everybody below it. */
  readonly tree: boolean;
}

export interface StopIntents {
  /** Whoever is below comes first; the agent that was named is the last. */
  readonly agents: readonly StopIntent[];
  /** Children of those that go on without them. */
  readonly liveChildren: readonly string[];
}

/** One agent that is to end, and what the caller has to end for it. */
export interface StopIntent {
  readonly agentName: string;
  readonly agentId: string;
  readonly capability: Capability;
  readonly depth: number;
  /** False while a turn is running: it ends when its processes have. */
  readonly ended: boolean;
  /** Nothing was left to stop. */
  readonly alreadyEnded: boolean;
  readonly wasZombie: boolean;
  readonly wasCompleted: boolean;
  readonly processes: readonly DoomedProcess[];
}

export interface DoomedProcess extends ProcessIdentity {
  readonly role: ProcessRole;
  readonly turnId: string | null;
}

/**
 * Asks agents to stop: from this transaction on nothing can start for them. An agent without a running turn has ended
 * with it; of the others the live processes are named, to be ended next. Whoever supervises the turn settles it, and
 * the engine finishes what its caller does not. Repeating it is harmless.
 */
export const requestStop: UseCase<StopOrder, StopIntents> = {
  kind: "write",
  request: fields({ name: text, tree: flag }),
  run: async (tx, context, { name, tree }) => {
    const found = await findSubordinate(tx, context.caller, name, "stop");
    if (!found.ok) return found;
    const below = await descendantsOf(tx, found.value.name);
    const doomed = [...(tree ? below.filter((agent) => !hasEnded(agent)) : []), found.value];
    // All of them first: what one of them is told by the end of another must not start it again.
    for (const agent of doomed) await request(tx, context, agent);
    const agents: StopIntent[] = [];
    for (const agent of doomed) agents.push(await finish(tx, context, agent));
    const stopped = new Set(doomed.map((agent) => agent.name));
    const left = below.filter((agent) => !hasEnded(agent) && !stopped.has(agent.name));
    const orphaned = left.filter((agent) => agent.parentName === found.value.name);
    return ok({ agents, liveChildren: orphaned.map((agent) => agent.name) });
  },
};

/** The same for every live agent of the project. */
export const requestStopOfAll: UseCase<object, { readonly names: readonly string[] }> = {
  kind: "write",
  operatorOnly: true,
  run: async (tx, context) => {
    const live = await tx.agents.list({ live: true });
    for (const agent of live) await request(tx, context, agent);
    for (const agent of live) await finish(tx, context, agent);
    return ok({ names: live.map(({ name }) => name) });
  },
};

async function request(tx: Tx, { caller, now }: Context, agent: Agent): Promise<void> {
  if (hasEnded(agent)) return;
  if (agent.stopRequestedBy === null) await tx.agents.requestStop(agent.id, caller.name);
  await tx.turns.cancelQueued(agent.id, now);
  // A pause belongs to the name; a stopped agent that is recovered one day should not wait for a forgotten word.
  for (const { kind, ref } of await tx.waits.of(agent.name)) {
    if (kind === "operator") await tx.waits.remove(agent.name, kind, ref);
  }
}

async function finish(tx: Tx, context: Context, agent: Agent): Promise<StopIntent> {
  const processes = await tx.processes.liveForAgent(agent.id);
  const wasZombie = agent.state === "zombie";
  const intent = {
    agentName: agent.name,
    agentId: agent.id,
    capability: agent.capability,
    depth: agent.depth,
    wasZombie,
    wasCompleted: agent.state === "completed",
    processes: processes.map(({ pid, startToken, bootId, role, turnId }) => ({
      pid,
      startToken,
      bootId,
      role,
      turnId,
    })),
  };
  const running = hasEnded(agent) ? undefined : await tx.turns.runningFor(agent.id);
  const ended = running === undefined && (await end(tx, context, agent));
  const alreadyEnded = hasEnded(agent) && !ended;
  if (!alreadyEnded) {
    const data = { by: context.caller.name, from: agent.state, running: running?.id ?? null };
    await record(tx, context.now, { source: "operator", agent, type: "stop", data });
  }
  return { ...intent, ended: running === undefined, alreadyEnded };
}

/** A zombie is laid to rest by a person alone; its parent was told when it became one. */
async function end(tx: Tx, context: Context, agent: Agent): Promise<boolean> {
  const { caller } = context;
  if (agent.state === "completed" || (agent.state === "zombie" && caller.kind === "agent")) return false;
  const stopped = stopEnd(caller.name);
  const death = agent.state === "zombie" ? null : stopped.reason;
  return endAgent(tx, context, agent, { ...stopped, death, turnId: null });
}

/** Which of these agents have not ended yet, for whoever waits for a stop to be complete. */
export const checkStop: UseCase<{ readonly agentIds: readonly string[] }, { readonly open: readonly string[] }> = {
  kind: "read",
  request: fields({ agentIds: list(text) }),
  run: async (tx, _context, { agentIds }) => {
    const open: string[] = [];
    for (const id of agentIds) {
      const agent = await tx.agents.get(id);
      if (agent !== undefined && !hasEnded(agent)) open.push(id);
    }
    return ok({ open });
  },
};
