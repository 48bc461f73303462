import type { Agent } from "../domain/agent/agent.ts";
import { nextDelivery } from "../domain/mail/delivery.ts";
import type { Turn } from "../domain/turn/turn.ts";
import type { Tx } from "../ports/store.ts";
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
    const free = ports.settings.maxTurns - (await tx.turns.countRunning());
    if (free <= 0) return [];
    const claimed: Claimed[] = [];
    for (const turn of await tx.turns.ready(now, free)) {
      const agent = await tx.agents.get(turn.agentId);
      if (agent !== undefined && (await claim(tx, ports, turn, agent, now)))
        claimed.push({ turnId: turn.id, fence: 1 });
    }
    return claimed;
  });
}

async function claim(tx: Tx, ports: EnginePorts, turn: Turn, agent: Agent, now: number): Promise<boolean> {
  const carried = await claimMail(tx, turn, agent, now);
  if (carried === 0 && turn.trigger === "mail") {
    // The agent read it by itself in an earlier turn: no process for mail that was already seen.
    await tx.turns.cancel(turn.id, now);
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
