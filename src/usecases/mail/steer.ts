import type { Agent } from "../../domain/agent/agent.ts";
import { nextDelivery, steerChannel } from "../../domain/mail/delivery.ts";
import type { Letter } from "../../domain/mail/letter.ts";
import { countsBeforeFinish } from "../../domain/mail/wake.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";

/**
 * Mail to write into the running turn of an agent whose program takes messages during a turn: mail that it would have
 * to read before it may finish, and mail that was taken for this turn and may not have reached the model. An agent
 * whose work was accepted only ends its turn; mail that comes now is for the next reader.
 */
export async function mailForTurn(tx: Tx, agent: Agent, turnId: string, now: number): Promise<readonly Mail[]> {
  const queued = (await tx.deliveries.queued(agent.name, now, Number.MAX_SAFE_INTEGER)).filter(
    ({ message, delivery }) => countsBeforeFinish(message, delivery, agent),
  );
  const unconfirmed = await steeredMail(tx, agent.name, turnId);
  if (queued.length === 0 && unconfirmed.length === 0) return [];
  const isAccepted = (await tx.checks.completionsOf(agent.id)).some(({ status }) => status === "done");
  return isAccepted ? [] : [...unconfirmed, ...queued];
}

/** Mail that was taken for the input of this turn, and that its program has not shown to its model yet. */
export async function steeredMail(tx: Tx, agentName: string, turnId: string): Promise<readonly Mail[]> {
  const claimed = await tx.deliveries.inState(agentName, ["claimed"]);
  return claimed.filter(({ delivery }) => delivery.channel === steerChannel && delivery.turnId === turnId);
}

/**
 * Takes this mail for the turn, before it is written: the next supervisor of the turn writes it again, under the same
 * id.
 */
export async function takeForTurn(
  tx: Tx,
  mail: readonly Mail[],
  turnId: string,
  now: number,
): Promise<readonly Letter[]> {
  const letters: Letter[] = [];
  for (const { message, delivery } of mail) {
    if (delivery.state === "queued") {
      const claim = { kind: "claim", by: turnId, channel: steerChannel, turnId } as const;
      const taken = nextDelivery(delivery, claim, now);
      if (!taken.ok) continue;
      await tx.deliveries.update(taken.value);
    }
    const sender = message.fromAgentId === null ? undefined : await tx.agents.get(message.fromAgentId);
    letters.push({ message, capability: sender?.capability ?? null, redelivered: delivery.redelivered, whole: true });
  }
  return letters;
}

/** The agent's program said that its model got the message. Other ids than those of steered mail mean nothing. */
export async function confirmHeard(tx: Tx, agentName: string, turnId: string, id: string, now: number): Promise<void> {
  const heard = (await steeredMail(tx, agentName, turnId)).find(({ message }) => message.id === id);
  if (heard === undefined) return;
  const delivered = nextDelivery(heard.delivery, { kind: "deliver", by: turnId }, now);
  if (delivered.ok) await tx.deliveries.update(delivered.value);
}
