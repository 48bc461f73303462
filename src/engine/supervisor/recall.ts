import type { Agent } from "../../domain/agent/agent.ts";
import type { Letter } from "../../domain/mail/letter.ts";
import { reopens } from "../../domain/mail/recipient.ts";
import type { Recall } from "../../domain/turn/prompt.ts";
import type { Turn } from "../../domain/turn/turn.ts";
import type { Tx } from "../../ports/store.ts";

/** Enough to go on with; a conversation that was too long must not become so again at once. */
const mostLetters = 10;
const mostCharacters = 50_000;
const mostLooked = 100;

/**
 * What a new conversation must be told of the one that was lost: where the agent stood, and the mail that gave it work
 * and that it has not answered. Undefined for an agent whose conversation goes on, or that never had one.
 */
export async function recallFor(tx: Tx, turn: Turn, agent: Agent): Promise<Recall | undefined> {
  if (turn.resumeRequested !== null) return undefined;
  const earlier = await tx.turns.listFor(agent.id);
  if (!earlier.some(({ id, resumeRequested }) => id !== turn.id && resumeRequested !== null)) return undefined;
  const checkpoint = await tx.recovery.checkpoint(agent.name);
  return {
    summary: checkpoint?.summary ?? "",
    files: checkpoint?.files ?? [],
    pending: checkpoint?.pending ?? "",
    letters: await unfinishedMail(tx, turn, agent),
  };
}

async function unfinishedMail(tx: Tx, turn: Turn, { name }: Agent): Promise<Letter[]> {
  const carried = new Set((await tx.deliveries.ofTurn(turn.id)).map(({ message }) => message.id));
  const answered = new Set((await tx.messages.list({ from: name, limit: mostLooked })).map(({ replyTo }) => replyTo));
  const letters: Letter[] = [];
  let characters = 0;
  for (const message of await tx.messages.list({ to: name, limit: mostLooked })) {
    if (carried.has(message.id) || answered.has(message.id) || !reopens({ ...message, wake: false })) continue;
    const delivery = await tx.deliveries.get(message.seq, name);
    if (delivery?.state !== "acked") continue;
    characters += message.body.length;
    if (letters.length === mostLetters || characters > mostCharacters) break;
    letters.push({ message, capability: null, redelivered: true });
  }
  return letters.reverse();
}
