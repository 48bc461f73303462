import type { Agent } from "../../domain/agent/agent.ts";
import { isParking } from "../../domain/agent/wait.ts";
import type { HealthFacts } from "../../domain/health/facts.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";

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

/** Beside a running turn only its gates are asked for: whatever else the agent waits for, it is at work. */
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
