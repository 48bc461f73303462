import { hasEnded } from "../../domain/agent/agent.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import { forwardNote, isForwarded } from "../../domain/mail/forwarding.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { fromEngine, post } from "./post.ts";

/**
 * Gives mail that its addressee will not read to an heir, without waking it unless asked to. False when the heir wrote
 * it: its own mail coming back would only puzzle it.
 */
export async function handOn(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  { message, delivery }: Mail,
  heir: string,
  { wake = false }: { readonly wake?: boolean } = {},
): Promise<boolean> {
  if (message.fromAgent === heir) return false;
  const cancelled = nextDelivery(delivery, { kind: "cancel", reason: `handed on to ${heir}` }, context.now);
  if (!cancelled.ok) return false;
  await tx.deliveries.update(cancelled.value);
  if (await hasAlready(tx, message, heir)) return true;
  await post(tx, context, {
    from: message.fromAgent,
    fromAgentId: null,
    byEngine: true,
    runId: message.runId,
    verified: message.verified,
    address: heir,
    recipients: [{ name: heir, wake }],
    subject: message.subject,
    body: `${message.body}${forwardNote(delivery.toAgent, message)}`,
    type: message.type,
    priority: message.priority,
    threadId: message.threadId,
    replyTo: message.id,
    hop: message.hop,
    payload: message.payload,
    blobPath: message.blobPath,
  });
  return true;
}

/**
 * Does the heir have this message, as its own or handed on by another agent? The engine tells several readers the same
 * thing at the same moment, each in a message of its own.
 */
async function hasAlready(tx: Tx, message: Message, heir: string): Promise<boolean> {
  if ((await tx.deliveries.get(message.seq, heir)) !== undefined) return true;
  if (message.fromAgent !== fromEngine.from) return false;
  const had = await tx.messages.list({ from: message.fromAgent, to: heir, type: message.type, limit: mostCompared });
  const told = await firstOf(tx, message);
  for (const one of had) {
    const first = one.subject === message.subject ? await firstOf(tx, one) : undefined;
    if (first?.createdAt === told.createdAt && first.body === told.body && first.payload === told.payload) return true;
  }
  return false;
}

/** The message that was handed on as this one, perhaps several times; itself when it never was. */
async function firstOf(tx: Tx, message: Message): Promise<Message> {
  let first = message;
  while (first.replyTo !== null && isForwarded(first.body)) {
    const before = await tx.messages.get(first.replyTo);
    if (before === undefined) break;
    first = before;
  }
  return first;
}

/** A message that was told at the same moment is among the newest. */
const mostCompared = 200;

/** From this agent up the line of parents, the first that lives; the operator always does. */
export async function nearestLiveAncestor(tx: Tx, first: string): Promise<string> {
  const visited = new Set<string>();
  for (let name = first; !visited.has(name); ) {
    visited.add(name);
    const agent = await tx.agents.byName(name);
    if (agent === undefined) break;
    if (!hasEnded(agent)) return name;
    name = agent.parentName;
  }
  return "operator";
}

/** The reader of a notice for this name: the name itself, or the nearest live ancestor of an agent that has ended. */
export async function readerOfNotice(tx: Tx, name: string): Promise<string> {
  return (await tx.agents.byName(name)) === undefined ? name : nearestLiveAncestor(tx, name);
}
