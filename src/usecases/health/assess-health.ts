import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { isParking } from "../../domain/agent/wait.ts";
import { type Assessment, assess, type HealthFacts } from "../../domain/health/assess.ts";
import type { HealthLimits } from "../../domain/health/ladder.ts";
import { ok } from "../../domain/result.ts";
import { fields, flag, whole } from "../../domain/schema/schema.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";
import type { Stream } from "../operation.ts";
import type { DiskState } from "../status/show.ts";
import type { UseCase } from "../usecase.ts";

export interface AssessRequest {
  /** Ended agents too. */
  readonly all?: boolean;
}

export interface AgentHealth {
  readonly agent: Agent;
  readonly assessment: Assessment;
  readonly quietMs: number;
  /** It has a running turn. */
  readonly inTurn: boolean;
}

export interface HealthReport {
  readonly now: number;
  readonly agents: readonly AgentHealth[];
}

/** How every agent is, by the thresholds of the project's watchdog. A look stores nothing: what follows from it is for the engine's watchdog alone. */
export const assessHealth: UseCase<AssessRequest, HealthReport> = {
  kind: "read",
  request: fields({}, { all: flag }),
  run: async (tx, { now, settings }, { all = false }) => {
    const limits = settings.watchdog;
    const agents: AgentHealth[] = [];
    for (const agent of newestPerName(await tx.agents.list(all ? {} : { live: true }))) {
      agents.push(await healthOf(tx, agent, { now, limits, maxTurns: settings.agents.maxConcurrent }));
    }
    return ok({ now, agents });
  },
};

export interface FollowHealthRequest {
  /** Time between looks: an agent becomes stalled by the clock alone, when nothing is written. */
  readonly intervalMs: number;
}

/** Tells about each live agent once, then about each change of an agent's health or of the disk, until the listener has left. */
export const followHealth: Stream<FollowHealthRequest, null, HealthReport & DiskState> = {
  kind: "stream",
  request: fields({ intervalMs: whole }),
  place: "engine",
  run: async (world, { intervalMs }, { onItem, signal }) => {
    const told = new Map<string, string>();
    let toldDisk: string | null = null;
    while (!signal.aborted) {
      const report = await world.call("health.assess", { all: true });
      if (!report.ok) return report;
      const changed = report.value.agents.filter((health) => isNews(health, told));
      for (const health of changed) told.set(health.agent.name, newsOf(health));
      const fullDisk = world.fullDisk() ?? null;
      if (changed.length > 0 || fullDisk !== toldDisk) onItem({ now: report.value.now, agents: changed, fullDisk });
      toldDisk = fullDisk;
      await world.sleep(Math.max(intervalMs, shortestIntervalMs), signal);
    }
    return ok(null);
  },
};

/** Also for an interval of 0, which the settings allow while the watchdog is switched off. */
const shortestIntervalMs = 100;

/** An agent that had ended before the first look is left out. */
function isNews(health: AgentHealth, told: ReadonlyMap<string, string>): boolean {
  const last = told.get(health.agent.name);
  if (last === undefined) return health.assessment.status !== "ended";
  return last !== newsOf(health);
}

/** A new item is told when these fields differ. Time that passes is no news. */
const newsOf = ({ agent, assessment }: AgentHealth): string =>
  JSON.stringify([agent.generation, agent.state, assessment.status, assessment.level, assessment.note]);

/**
 * One look has no memory: a supervisor counts as beating, and the silence is what the clock says. So the answer may be
 * sterner than the watchdog's after the host slept, and is never acted on.
 */
async function healthOf(
  tx: Tx,
  agent: Agent,
  { now, limits, maxTurns }: { now: number; limits: HealthLimits; maxTurns: number },
): Promise<AgentHealth> {
  if (hasEnded(agent)) {
    const assessment = {
      status: "ended",
      level: agent.escalationLevel,
      action: { kind: "none" },
      note: agent.outcome,
    } as const;
    return { agent, assessment, quietMs: Math.max(0, now - agent.lastActivityAt), inTurn: false };
  }
  const stored = await storedFacts(tx, agent, { now, maxTurns });
  const quietMs = Math.max(0, now - stored.lastActivityAt);
  const turn = stored.running === undefined ? null : ({ supervisor: "beating" } as const);
  const facts = { ...stored, agent, turn, process: "unknown", silentMs: quietMs, quietMs, sleptGraceMs: 0 } as const;
  return { agent, assessment: assess(facts, limits), quietMs, inTurn: turn !== null };
}

/** What the store knows about the health of an agent; how long it was silent is for the observer to say. */
export interface StoredFacts
  extends Pick<HealthFacts, "queued" | "parked" | "unanswered" | "waits" | "liveChildren" | "activeSinceStall"> {
  readonly running: Turn | undefined;
  readonly queuedTurn: Turn | undefined;
  /** Its own last sign: output, hooks, mail. Events of others about it do not count. */
  readonly lastActivityAt: number;
}

export async function storedFacts(
  tx: Tx,
  agent: Agent,
  { now, maxTurns }: { readonly now: number; readonly maxTurns: number },
): Promise<StoredFacts> {
  const running = await tx.turns.runningFor(agent.id);
  const checked = (await tx.checks.dueWork(agent.id)) ? 1 : 0;
  if (running !== undefined) {
    return { ...nothing, waits: checked, running, ...activity(agent, agent.lastActivityAt) };
  }
  const waits = await tx.waits.of(agent.name);
  const queuedTurn = await tx.turns.queuedFor(agent.id);
  return {
    running,
    queuedTurn,
    queued: queuedTurn === undefined ? null : await placeOf(tx, queuedTurn, now, maxTurns),
    parked: waits.some(({ kind }) => isParking(kind)),
    unanswered: waits.some(({ kind }) => kind === "reply"),
    waits: checked + waits.filter(({ kind }) => kind !== "reply" && !isParking(kind)).length,
    liveChildren: (await tx.agents.list({ parentName: agent.name, live: true })).length,
    ...activity(agent, Math.max(agent.lastActivityAt, await lastMailAt(tx, agent))),
  };
}

/** For an agent with a running turn only its gates are looked up: it is at work, so its other waits do not matter. */
const nothing = {
  queuedTurn: undefined,
  queued: null,
  parked: false,
  unanswered: false,
  waits: 0,
  liveChildren: 0,
} as const;

const activity = (
  { stalledSince }: Agent,
  lastActivityAt: number,
): Pick<StoredFacts, "lastActivityAt" | "activeSinceStall"> => ({
  lastActivityAt,
  activeSinceStall: stalledSince !== null && lastActivityAt > stalledSince,
});

/** Notices that the engine sent in the agent's name, and mail for which the operator lent it, are not the agent's. */
async function lastMailAt(tx: Tx, agent: Agent): Promise<number> {
  const sent = await tx.messages.list({ from: agent.name, limit: 5 });
  return sent.find((message) => message.fromAgentId === agent.id)?.createdAt ?? 0;
}

async function placeOf(tx: Tx, turn: Turn, now: number, maxTurns: number): Promise<NonNullable<HealthFacts["queued"]>> {
  const slotFree = maxTurns - (await tx.turns.countRunning()) > 0;
  return { dueForMs: now - Math.max(turn.notBefore, turn.queuedAt), slotFree };
}
