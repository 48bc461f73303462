import type { Agent } from "../domain/agent/agent.ts";
import { isIn } from "../domain/agent/capability.ts";
import { nextDelivery } from "../domain/mail/delivery.ts";
import type { Turn } from "../domain/turn/turn.ts";
import type { Tx } from "../ports/store.ts";
import { releaseReservation } from "../usecases/budgets/release-reservation.ts";
import { reserveTurn } from "../usecases/budgets/reserve-turn.ts";
import type { EnginePorts } from "./ports.ts";

/** Input of one turn: beyond this many messages or characters the rest waits for the next. */
const mostMessages = 50;
const mostCharacters = 200_000;

export interface Claimed {
  readonly turnId: string;
  readonly fence: number;
}

/** Claims what may run now, up to the concurrency limit, each turn with its mail. Starting it is the caller's effect. */
export async function claimTurns(ports: EnginePorts): Promise<Claimed[]> {
  const now = ports.clock.now();
  const anything = await ports.store.read((tx) => tx.turns.ready(now, 1));
  if (anything.length === 0) return [];
  return ports.store.transaction(async (tx) => {
    const places = await freePlaces(tx, ports);
    const claimed: Claimed[] = [];
    for (const turn of await tx.turns.ready(now, mostAtOnce)) {
      const agent = await tx.agents.get(turn.agentId);
      if (agent === undefined || !places.has(agent)) continue;
      if (!(await claim(tx, ports, turn, agent, now))) continue;
      places.take(agent);
      claimed.push({ turnId: turn.id, fence: 1 });
    }
    return claimed;
  });
}

/** Most turns claimed in one transaction; what remains is claimed in the next. */
const mostAtOnce = 200;

interface Places {
  has(agent: Agent): boolean;
  take(agent: Agent): void;
}

/** Free places over all and per run. A persistent agent never takes one: it would starve those it waits for. */
async function freePlaces(tx: Tx, { settings }: EnginePorts): Promise<Places> {
  let free = settings.maxTurns - (await tx.turns.countRunning());
  const perRun = new Map<string, number>();
  for (const { runId } of await tx.turns.running()) {
    if (!perRun.has(runId)) perRun.set(runId, await tx.turns.countRunning(runId));
  }
  const counts = (agent: Agent): boolean => !isIn("persistent", agent.capability);
  return {
    has: (agent) => !counts(agent) || (free > 0 && (perRun.get(agent.runId) ?? 0) < settings.maxTurnsPerRun),
    take: (agent) => {
      if (!counts(agent)) return;
      free--;
      perRun.set(agent.runId, (perRun.get(agent.runId) ?? 0) + 1);
    },
  };
}

async function claim(tx: Tx, ports: EnginePorts, turn: Turn, agent: Agent, now: number): Promise<boolean> {
  const terms = { limits: ports.settings.budgets, ids: ports.ids, now };
  const reserved = await reserveTurn(tx, { turn, agent, ...terms });
  if (!reserved.ok) return false;
  const carried = await claimMail(tx, turn, agent, now);
  if (carried === 0 && turn.trigger === "mail") {
    // The agent read it by itself in an earlier turn: no process for mail that was already seen.
    await tx.turns.cancel(turn.id, now);
    await releaseReservation(tx, turn.id, terms);
    return false;
  }
  return tx.turns.start(turn.id, {
    fence: 1,
    logDir: ports.logDir(agent.name, turn.id),
    resumeRequested: agent.providerSessionId,
    now,
  });
}

async function claimMail(tx: Tx, turn: Turn, agent: Agent, now: number): Promise<number> {
  let messages = 0;
  let characters = 0;
  for (const { message, delivery } of await tx.deliveries.queued(agent.name, now, mostMessages)) {
    characters += message.body.length;
    if (messages > 0 && characters > mostCharacters) break;
    const taken = nextDelivery(delivery, { kind: "claim", by: turn.id, channel: "turn", turnId: turn.id }, now);
    if (!taken.ok) continue;
    await tx.deliveries.update(taken.value);
    messages++;
  }
  return messages;
}
