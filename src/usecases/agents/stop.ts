import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import type { Capability } from "../../domain/agent/capability.ts";
import { stopEnd } from "../../domain/agent/transition.ts";
import type { ProcessIdentity, ProcessRole } from "../../domain/process/process.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { fields, flag, list, noFields, text } from "../../domain/schema/schema.ts";
import type { Processes } from "../../ports/process.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Effect, World } from "../operation.ts";
import type { Context, UseCase } from "../usecase.ts";
import { endAgent } from "./end-agent.ts";
import { descendantsOf, findSubordinate } from "./find-agent.ts";

export interface StopRequest {
  readonly name: string;
  readonly tree: boolean;
  /** Gives processes no time to leave by themselves. */
  readonly force: boolean;
}

export interface EndedProcess {
  readonly pid: number;
  readonly role: ProcessRole | "descendant";
  /** It had to be killed. */
  readonly escalated: boolean;
}

export interface AgentStopped {
  readonly agentName: string;
  readonly sessionId: string;
  readonly capability: string;
  /** It has ended. False: it is being stopped, and the engine goes on with that. */
  readonly stopped: boolean;
  readonly alreadyEnded: boolean;
  readonly wasZombie: boolean;
  readonly wasCompleted: boolean;
  readonly killed: readonly EndedProcess[];
  /** Processes that could not be ended. */
  readonly survivors: readonly number[];
}

export interface StopReport extends AgentStopped {
  /** The agents below it that were stopped with it, the lowest first. */
  readonly children: readonly AgentStopped[];
  /** Its children that go on without it. */
  readonly liveChildren: readonly string[];
  /** Active runs that the stopped agents led. A stop ends no run. */
  readonly ledRuns: readonly LedRun[];
}

export interface LedRun {
  readonly runId: string;
  readonly coordinatorName: string;
  readonly capability: Capability;
}

/** Time an agent has to leave by itself. */
const graceMs = 2_000;
/** How long the settling of a stopped turn is waited for; the engine finishes it in any case. */
const patienceMs = 15_000;
const slowestLookMs = 250;
/** The user is told about a stop that takes longer than this. */
const tellAfterMs = 2_000;

/** Stops agents: the intent first, then what runs for them, then the wait until it is on record. */
export const stop: Effect<StopRequest, StopReport> = {
  kind: "effect",
  request: fields({ name: text, tree: flag, force: flag }),
  place: "engine",
  run: async (world, { name, tree, force }) => {
    const asked = await world.call("agent.requestStop", { name, tree });
    if (!asked.ok) return asked;
    const { agents, liveChildren, ledRuns } = asked.value;
    const reports = await endIntended(world, agents, force ? 0 : graceMs);
    if (!reports.ok) return reports;
    const own = reports.value.at(-1);
    if (own === undefined) throw new Error("a stop named nobody");
    return ok({ ...own, children: reports.value.slice(0, -1), liveChildren, ledRuns });
  },
};

/** Ends what runs for agents whose stop is on record, and waits until their end is on record too. */
export async function endIntended(
  world: World,
  agents: readonly StopIntent[],
  grace: number = graceMs,
): Promise<Result<readonly AgentStopped[], Refusal>> {
  if (agents.length === 0) return ok([]);
  const ended = await endAll(await world.processes(), agents, grace);
  const open = await untilEnded(world, agents);
  if (!open.ok) return open;
  return ok(agents.map((agent) => reportOf(agent, ended.get(agent.agentId), open.value)));
}

interface Ended {
  readonly killed: readonly EndedProcess[];
  readonly survivors: readonly number[];
}

/**
 * From below, all agents of one depth together: a parent never outlives the end of its children by starting new ones.
 */
async function endAll(machine: Processes, agents: readonly StopIntent[], grace: number): Promise<Map<string, Ended>> {
  const ended = new Map<string, Ended>();
  const depths = [...new Set(agents.map(({ depth }) => depth))].toSorted((a, b) => b - a);
  for (const depth of depths) {
    const level = agents.filter((agent) => agent.depth === depth);
    await Promise.all(
      level.map(async (agent) => ended.set(agent.agentId, await endProcessesOf(machine, agent, grace))),
    );
  }
  return ended;
}

/**
 * The supervisor is left alone: it sees its agent go and settles the turn. What earlier turns left running goes too.
 */
async function endProcessesOf(machine: Processes, { agentId, processes }: StopIntent, grace: number): Promise<Ended> {
  const trees = await Promise.all(
    processes.filter(({ role }) => role !== "supervisor").map((process) => endProcess(machine, process, grace)),
  );
  const left = await machine.endStartedFor(agentId, grace);
  const leftBehind = left.ended.map((each): EndedProcess => ({ ...each, role: "descendant" }));
  return {
    killed: [...trees.flatMap(({ killed }) => killed), ...leftBehind],
    survivors: [...new Set([...trees.flatMap(({ survivors }) => survivors), ...left.survivors])],
  };
}

async function endProcess(machine: Processes, root: DoomedProcess, grace: number): Promise<Ended> {
  const { ended, survivors } = await machine.endTree(root, grace, { turnId: root.turnId ?? undefined });
  const killed = ended.map(({ pid, escalated }): EndedProcess => {
    return { pid, role: pid === root.pid ? root.role : "descendant", escalated };
  });
  return { killed, survivors };
}

/** The ids of agents whose end is still not on record when the time is up. */
async function untilEnded(
  { call, warn, sleep }: World,
  agents: readonly StopIntent[],
): Promise<Result<readonly string[], Refusal>> {
  const agentIds = agents.filter(({ ended }) => !ended).map(({ agentId }) => agentId);
  const began = performance.now();
  const deadline = began + patienceMs;
  let told = false;
  for (let wait = 20; agentIds.length > 0; wait = Math.min(wait * 2, slowestLookMs)) {
    const progress = await call("agent.checkStop", { agentIds });
    if (!progress.ok) return progress;
    const { open } = progress.value;
    if (open.length === 0 || performance.now() > deadline) return ok(open);
    if (!told && performance.now() - began > tellAfterMs) {
      const names = agents.filter(({ agentId }) => open.includes(agentId)).map(({ agentName }) => agentName);
      warn(`waiting until the end of ${names.join(", ")} is on record; the engine sees to it in any case: ov status`);
      told = true;
    }
    await sleep(wait);
  }
  return ok([]);
}

function reportOf(agent: StopIntent, ended: Ended | undefined, open: readonly string[]): AgentStopped {
  const { agentName, agentId, capability, alreadyEnded, wasZombie, wasCompleted } = agent;
  return {
    agentName,
    sessionId: agentId,
    capability,
    stopped: !open.includes(agentId),
    alreadyEnded,
    wasZombie,
    wasCompleted,
    killed: ended?.killed ?? [],
    survivors: ended?.survivors ?? [],
  };
}

export interface StopOrder {
  readonly name: string;
  /** Also all agents below it. */
  readonly tree: boolean;
}

export interface StopIntents {
  /** The lowest agents come first; the agent that was named is the last. */
  readonly agents: readonly StopIntent[];
  /** Children of those that go on without them. */
  readonly liveChildren: readonly string[];
  readonly ledRuns: readonly LedRun[];
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
 * with it; of the others the live processes are named, to be ended next. The turn's supervisor settles it, and the
 * engine finishes what its caller does not. Repeating it is harmless.
 */
export const requestStop: UseCase<StopOrder, StopIntents> = {
  kind: "write",
  request: fields({ name: text, tree: flag }),
  run: async (tx, context, { name, tree }) => {
    const found = await findSubordinate(tx, context.caller, name, "stop");
    if (!found.ok) return found;
    const below = await descendantsOf(tx, found.value.name);
    const doomed = [...(tree ? below.filter((agent) => !hasEnded(agent)) : []), found.value];
    const agents = await stopEach(tx, context, doomed);
    const stopped = new Set(doomed.map((agent) => agent.name));
    const left = below.filter((agent) => !hasEnded(agent) && !stopped.has(agent.name));
    const orphaned = left.filter((agent) => agent.parentName === found.value.name);
    const ledRuns = await runsLedBy(tx, doomed);
    return ok({ agents, liveChildren: orphaned.map((agent) => agent.name), ledRuns });
  },
};

async function runsLedBy(tx: Tx, agents: readonly Agent[]): Promise<readonly LedRun[]> {
  const led: LedRun[] = [];
  for (const { name, capability, runId } of agents) {
    const run = await tx.runs.get(runId);
    if (run?.status === "active" && run.coordinatorName === name)
      led.push({ runId, coordinatorName: name, capability });
  }
  return led;
}

/** The same for every live agent of the project. */
export const requestStopOfAll: UseCase<object, { readonly names: readonly string[] }> = {
  kind: "write",
  request: noFields,
  operatorOnly: true,
  run: async (tx, context) => {
    const live = await tx.agents.list({ live: true });
    await stopEach(tx, context, live);
    return ok({ names: live.map(({ name }) => name) });
  },
};

/** Asks these agents to stop, in the caller's transaction; whether the caller may was decided before. */
export async function stopEach(tx: Tx, context: Context, doomed: readonly Agent[]): Promise<readonly StopIntent[]> {
  // All of them first: what one of them is told by the end of another must not start it again.
  for (const agent of doomed) await request(tx, context, agent);
  const agents: StopIntent[] = [];
  for (const agent of doomed) agents.push(await finish(tx, context, agent));
  return agents;
}

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

/** Which of these agents have not ended yet. Callers ask until a stop is complete. */
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
