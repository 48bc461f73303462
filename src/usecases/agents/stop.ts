import type { ProcessRole } from "../../domain/process/process.ts";
import type { Refusal } from "../../domain/refusal.ts";
import { ok, type Result } from "../../domain/result.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { Processes } from "../../ports/process.ts";
import type { Effect, World } from "../operation.ts";
import type { DoomedProcess, StopIntent } from "./request-stop.ts";

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
  /** Stopped with it, whoever is below first. */
  readonly children: readonly AgentStopped[];
  /** Its children that go on without it. */
  readonly liveChildren: readonly string[];
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
    const { agents, liveChildren } = asked.value;
    const ended = await endAll(await world.processes(), agents, force ? 0 : graceMs);
    const open = await untilEnded(world, agents);
    if (!open.ok) return open;
    const reports = agents.map((agent) => reportOf(agent, ended.get(agent.agentId), open.value));
    const own = reports.at(-1);
    if (own === undefined) throw new Error("a stop named nobody");
    return ok({ ...own, children: reports.slice(0, -1), liveChildren });
  },
};

interface Ended {
  readonly killed: readonly EndedProcess[];
  readonly survivors: readonly number[];
}

/** From below, everybody of one depth together: a parent never outlives the end of its children by starting new ones. */
async function endAll(machine: Processes, agents: readonly StopIntent[], grace: number): Promise<Map<string, Ended>> {
  const ended = new Map<string, Ended>();
  const depths = [...new Set(agents.map(({ depth }) => depth))].toSorted((a, b) => b - a);
  for (const depth of depths) {
    const level = agents.filter((agent) => agent.depth === depth);
    await Promise.all(level.map(async (agent) => ended.set(agent.agentId, await endAgent(machine, agent, grace))));
  }
  return ended;
}

/**
 * The supervisor is left alone: it sees its agent go and settles the turn. What earlier turns left running goes too.
 */
async function endAgent(machine: Processes, { agentId, processes }: StopIntent, grace: number): Promise<Ended> {
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
