import type { Agent, AgentState } from "../../domain/agent/agent.ts";
import { watchdog } from "../../domain/agent/transition.ts";
import type { HealthFacts } from "../../domain/health/assess.ts";
import { type Assessment, assess, type HealthAction, nextChange } from "../../domain/health/assess.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import { endAgent } from "../../usecases/agents/end-agent.ts";
import { changeState } from "../../usecases/agents/reopen-agent.ts";
import { notice, record } from "../../usecases/events/record.ts";
import { type StoredFacts, storedFacts } from "../../usecases/health/assess-health.ts";
import { fromEngine, post } from "../../usecases/mail/post.ts";
import { turnLease } from "../supervisor/begin.ts";
import type { WatchdogMemory } from "./memory.ts";
import { paceOf, type WatchdogPorts, type WatchdogSettings } from "./memory.ts";

/**
 * When its time has come (see `nextWatchdogAt`), looks at every agent that could be stuck and acts on it, each agent in
 * a transaction of its own that looks again. Before that it costs nothing, so it may be called on every pass. Never
 * runs agent work, never ends a process, and never overlaps itself. True when it acted, and so may have queued a turn.
 */
export async function watchdogTick(ports: WatchdogPorts, memory: WatchdogMemory): Promise<boolean> {
  const { store, settings } = ports;
  if (!settings.watchdog.tier0Enabled) return false;
  let acted = false;
  await memory.whenDue(ports.clock, async () => {
    memory.look(ports.clock, paceOf(settings));
    const observed = await store.read((tx) => observe(tx, ports, memory));
    for (const subject of observed) {
      if (!isDue(ports, memory, subject)) continue;
      await settle(ports, memory, subject);
      acted = true;
    }
  });
  return acted;
}

/**
 * The earliest moment at which a tick could find something to do; undefined when nothing needs watching. To be asked
 * whenever the store changed: it is also how the watchdog learns that an agent was active.
 */
export async function nextWatchdogAt(ports: WatchdogPorts, memory: WatchdogMemory): Promise<number | undefined> {
  const { store, settings } = ports;
  if (!settings.watchdog.tier0Enabled) return undefined;
  const paceMs = paceOf(settings);
  memory.look(ports.clock, paceMs);
  const observed = await store.read((tx) => observe(tx, ports, memory));
  let due: number | undefined;
  for (const subject of observed) {
    if (wasReported(ports, memory, subject)) continue;
    const change = dueIn(subject, settings);
    if (change !== undefined && (due === undefined || change < due)) due = change;
  }
  return due === undefined ? undefined : Math.ceil(ports.clock.now() + memory.plan(due, paceMs));
}

/** The end of an attached process is written nowhere, so it must be looked for. */
function dueIn({ agent, facts }: Observed, settings: WatchdogSettings): number | undefined {
  const change = nextChange(facts, settings.watchdog);
  if (agent.topology !== "attached" || facts.process === "unknown") return change;
  return Math.min(change ?? Number.POSITIVE_INFINITY, paceOf(settings));
}

function isDue(ports: WatchdogPorts, memory: WatchdogMemory, subject: Observed): boolean {
  const { kind } = assess(subject.facts, ports.settings.watchdog).action;
  return kind !== "none" && kind !== "investigate" && !wasReported(ports, memory, subject);
}

function wasReported(ports: WatchdogPorts, memory: WatchdogMemory, subject: Observed): boolean {
  const { kind } = assess(subject.facts, ports.settings.watchdog).action;
  return kind === "report" && memory.reported.has(reportKey(subject));
}

async function settle(ports: WatchdogPorts, memory: WatchdogMemory, { agent }: Observed): Promise<void> {
  await ports.store.transaction(async (tx) => {
    const current = await tx.agents.get(agent.id);
    if (current === undefined) return;
    const observed = await observeOne(tx, ports, memory, current);
    const assessment = assess(observed.facts, ports.settings.watchdog);
    if (assessment.action.kind === "report") memory.reported.add(reportKey(observed));
    await act(tx, ports, observed, assessment);
  });
}

const actor = watchdog;

/** Does what the assessment calls for, in one transaction that only writes: processes are for the engine to end. */
async function act(tx: Tx, ports: WatchdogPorts, observed: Observed, assessment: Assessment): Promise<void> {
  const { action } = assessment;
  switch (action.kind) {
    case "none":
    case "investigate":
      return;
    case "recover":
      return recover(tx, ports, observed);
    case "report":
      return report(tx, ports, observed, action);
    case "escalate":
      return escalate(tx, ports, observed, assessment.level, action);
    case "terminate":
      return terminate(tx, ports, observed, assessment.level, action);
    case "complete":
      return complete(tx, ports, observed, action);
  }
}

/** The id under which a stall is reported once: the turn that does not start, or the seat that stays empty. */
const reportKey = ({ agent, stored }: Observed): string => stored.queuedTurn?.id ?? agent.id;

async function recover(tx: Tx, ports: WatchdogPorts, { agent, facts }: Observed): Promise<void> {
  const now = ports.clock.now();
  await tx.agents.setEscalation(agent.id, 0, null);
  if (agent.state === "stalled") {
    const reason = facts.activeSinceStall ? "it is active again" : "it waits for something";
    await changeState(tx, agent, { to: substate(facts), actor, reason }, now);
  }
  const data = { escalationLevel: agent.escalationLevel };
  await record(tx, now, { source: "watchdog", agent, type: "recovered", data });
}

function substate({ agent, turn }: Observed["facts"]): AgentState {
  if (agent.topology === "attached") return "working";
  return turn === null ? "between_turns" : "in_turn";
}

async function report(
  tx: Tx,
  { clock }: WatchdogPorts,
  observed: Observed,
  { problem }: Extract<HealthAction, { kind: "report" }>,
): Promise<void> {
  const { agent, facts, stored } = observed;
  if (!(await notice(tx, { kind: problem, about: agent.id, key: reportKey(observed) }))) return;
  const data = { turnId: stored.queuedTurn?.id ?? null, dueForMs: facts.queued?.dueForMs ?? facts.silentMs };
  await record(tx, clock.now(), { source: "watchdog", agent, type: problem, level: "error", data });
}

async function escalate(
  tx: Tx,
  ports: WatchdogPorts,
  { agent, facts }: Observed,
  escalationLevel: number,
  { step }: Extract<HealthAction, { kind: "escalate" }>,
): Promise<void> {
  const now = ports.clock.now();
  await tx.agents.setEscalation(agent.id, escalationLevel, agent.stalledSince ?? now);
  if (agent.state !== "stalled") {
    const reason = `silent for ${Math.round(facts.silentMs / 1000)} s`;
    await changeState(tx, agent, { to: "stalled", actor, reason }, now);
  }
  const about = { source: "watchdog", agent, level: "warn" } as const;
  switch (step) {
    case "warn":
      return record(tx, now, { ...about, type: "escalation", data: { escalationLevel, action: step } });
    case "nudge":
      await nudge(tx, ports, agent, now);
      return record(tx, now, { ...about, type: "nudge", data: { escalationLevel } });
    case "triage":
      return record(tx, now, { ...about, type: "triage", data: { escalationLevel, verdict: null } });
  }
}

/** Its next turn is queued, not run: whether it starts, and what comes of it, is for the engine and its supervisor. */
async function nudge(tx: Tx, { ids }: WatchdogPorts, agent: Agent, now: number): Promise<void> {
  await post(
    tx,
    { ids, now },
    {
      ...fromEngine,
      runId: agent.runId,
      address: agent.name,
      recipients: [{ name: agent.name, wake: true }],
      subject: "[WATCHDOG] are you still there?",
      body: "You have shown no activity for a while. Go on with your task, or tell your parent what you wait for and why.",
      type: "health_check",
      priority: "urgent",
    },
  );
}

async function terminate(
  tx: Tx,
  ports: WatchdogPorts,
  { agent, occupied }: Observed,
  escalationLevel: number,
  { reason, outcome }: Extract<HealthAction, { kind: "terminate" }>,
): Promise<void> {
  const now = ports.clock.now();
  await tx.agents.setEscalation(agent.id, escalationLevel, agent.stalledSince ?? now);
  await tx.agents.requestStop(agent.id, actor);
  const data = { escalationLevel, action: "terminate", reason } as const;
  await record(tx, now, { source: "watchdog", agent, type: "escalation", level: "error", data });
  if (occupied) {
    // The engine ends the process and then the agent; until then the row says what we saw.
    await tx.turns.cancelQueued(agent.id, now);
    if (agent.state !== "stalled") await changeState(tx, agent, { to: "stalled", actor, reason }, now);
    return;
  }
  const death = ports.settings.watchdog.notifyParentOnDeath ? reason : null;
  await endAgent(tx, { ids: ports.ids, now }, agent, { state: "zombie", outcome, actor, reason, death, turnId: null });
}

async function complete(
  tx: Tx,
  ports: WatchdogPorts,
  { agent }: Observed,
  { reason }: Extract<HealthAction, { kind: "complete" }>,
): Promise<void> {
  const now = ports.clock.now();
  const end = { state: "completed", outcome: "assumed_done", actor, reason, death: null, turnId: null } as const;
  await endAgent(tx, { ids: ports.ids, now }, agent, end);
  await tx.agents.setEscalation(agent.id, 0, null);
}

/** A supervisor beats every few seconds. One without a beat for this long is stopped or stuck. */
const silentSupervisorMs = 30_000;

/** Turns that wait longest are the late ones; more than these are the same problem. */
const mostLateTurns = 20;

interface Observed {
  readonly agent: Agent;
  readonly facts: HealthFacts;
  readonly stored: StoredFacts;
  /** A process of it may be alive: it must be ended before the agent is. */
  readonly occupied: boolean;
}

/** Every agent that could be stuck, as this engine sees it now. Agents that wait on purpose are not even read. */
async function observe(tx: Tx, ports: WatchdogPorts, memory: WatchdogMemory): Promise<Observed[]> {
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

async function observeOne(
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
