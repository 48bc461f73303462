import type { Agent } from "../../domain/agent/agent.ts";
import { givesWork, reopens } from "../../domain/mail/recipient.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Tx } from "../../ports/store.ts";
import { mayGiveWork } from "../mail/target.ts";

/** Has an agent that ends mail that asks it for more work, and brings it back? */
export async function isAskedForMore(tx: Tx, agent: Agent): Promise<boolean> {
  for (const { message, delivery } of await tx.deliveries.inState(agent.name, ["queued"])) {
    const asks = delivery.wake && reopens({ ...message, wake: false });
    if (asks && (await mayAsk(tx, message, agent)) && !(await wasAnswered(tx, message, agent))) return true;
  }
  return false;
}

/** Has the agent answered this message already, after a look into its own inbox? */
async function wasAnswered(tx: Tx, { id }: Message, { name }: Agent): Promise<boolean> {
  const sent = await tx.messages.list({ from: name, limit: mostReplies });
  return sent.some(({ replyTo }) => replyTo === id);
}

/** Answers of its last turn are among the newest it sent. */
const mostReplies = 50;

/** The same rule as for mail that is sent after the end. */
async function mayAsk(tx: Tx, message: Message, agent: Agent): Promise<boolean> {
  if (message.fromAgentId === null) return true;
  const run = message.type === "review" ? undefined : await tx.runs.get(agent.runId);
  if (run !== undefined && run.status !== "active") return false;
  if (!givesWork(message)) return true;
  const sender = await tx.agents.get(message.fromAgentId);
  return sender === undefined || mayGiveWork(tx, sender, agent);
}
