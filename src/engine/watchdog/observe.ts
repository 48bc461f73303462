import type { Agent } from "../../domain/agent/agent.ts";
import type { HealthFacts } from "../../domain/health/assess.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { type StoredFacts, storedFacts } from "../../usecases/health/assess-health.ts";
import { turnLease } from "../supervisor/begin.ts";
import type { WatchdogMemory } from "./memory.ts";
import type { WatchdogPorts } from "./ports.ts";

/** A supervisor beats every few seconds; one that did not for this long is stopped or stuck. */
const silentSupervisorMs = 30_000;

/** Turns that wait longest are the late ones; more than these are the same problem. */
const mostLateTurns = 20;

export interface Observed {
  readonly agent: Agent;
  readonly facts: HealthFacts;
  readonly stored: StoredFacts;
  /** A process of it may be alive: it must be ended before the agent is. */
  readonly occupied: boolean;
}

/** Everybody who could be stuck, as this engine sees them now. Who waits on purpose is not even read. */
export async function observe(tx: Tx, ports: WatchdogPorts, memory: WatchdogMemory): Promise<Observed[]> {
  const agents = new Map<string, Agent>();
  for (const agent of await tx.agents.watchable()) agents.set(agent.id, agent);
  for (const agent of await tx.agents.unseated()) agents.set(agent.id, agent);
  for (const turn of await tx.turns.ready(ports.clock.now(), mostLateTurns)) {
    const agent = await tx.agents.get(turn.agentId);
    if (agent !== undefined) agents.set(agent.id, agent);
  }
  const observed: Observed[] = [];
  for (const agent of agents.values()) observed.push(await observeOne(tx, ports, memory, agent));
  const subjects = observed.filter(isOnItsOwn).flatMap(({ agent }) => [agent.id, beatOf(agent)]);
  memory.keepOnly(new Set(subjects));
  return observed;
}

export async function observeOne(
  tx: Tx,
  { clock, processes, settings }: WatchdogPorts,
  memory: WatchdogMemory,
  agent: Agent,
): Promise<Observed> {
  const now = clock.now();
  const stored = await storedFacts(tx, agent, { now, maxTurns: settings.maxTurns });
  const { running, lastActivityAt } = stored;
  const beat = running === undefined ? "" : await signOf(tx, running);
  const silentMs = memory.unchangedFor(agent.id, `${lastActivityAt}/${beat}`);
  const silentSupervisor = running !== undefined && memory.unchangedFor(beatOf(agent), beat) > silentSupervisorMs;
  const process =
    running === undefined || agent.topology === "attached" ? await livenessOf(tx, processes, agent) : "unknown";
  const facts: HealthFacts = {
    ...stored,
    agent,
    turn: running === undefined ? null : { supervisor: silentSupervisor ? "silent" : "beating" },
    process,
    silentMs,
    quietMs: Math.max(0, now - lastActivityAt),
    sleptGraceMs: memory.graceMs(settings.watchdog.staleThresholdMs),
  };
  return { agent, facts, stored, occupied: running !== undefined || process === "alive" };
}

const beatOf = (agent: Agent): string => `beat of ${agent.id}`;

/** Nothing excuses its silence, so its silence is counted. */
const isOnItsOwn = ({ facts }: Observed): boolean =>
  facts.turn !== null ||
  !(facts.parked || facts.unanswered || facts.waits > 0 || facts.liveChildren > 0 || facts.queued !== null);

async function signOf(tx: Tx, turn: Turn): Promise<string> {
  const lease = await tx.leases.get(turnLease(turn.id));
  return `${turn.id}.${turn.fence}.${lease?.fence ?? "-"}.${lease?.beat ?? "-"}`;
}

async function livenessOf(
  tx: Tx,
  processes: WatchdogPorts["processes"],
  agent: Agent,
): Promise<HealthFacts["process"]> {
  const recorded = (await tx.processes.liveForAgent(agent.id)).filter(({ role }) => role === "agent");
  if (recorded.length === 0) return "unknown";
  const found = recorded.map((record) => processes.check(record));
  if (found.includes("alive")) return "alive";
  return found.every((liveness) => liveness === "gone") ? "gone" : "unknown";
}
