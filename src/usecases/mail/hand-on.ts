import { hasEnded } from "../../domain/agent/agent.ts";
import { nextDelivery } from "../../domain/mail/delivery.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { post } from "./post.ts";

/**
 * Gives mail that its addressee will not read to somebody else, without waking them. False when the heir wrote it: its
 * own mail coming back would only puzzle it.
 */
export async function handOn(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  { message, delivery }: Mail,
  heir: string,
): Promise<boolean> {
  if (message.fromAgent === heir) return false;
  const cancelled = nextDelivery(delivery, { kind: "cancel", reason: `handed on to ${heir}` }, context.now);
  if (!cancelled.ok) return false;
  await tx.deliveries.update(cancelled.value);
  await post(tx, context, {
    from: message.fromAgent,
    fromAgentId: null,
    byEngine: true,
    runId: message.runId,
    verified: message.verified,
    address: heir,
    recipients: [{ name: heir, wake: false }],
    subject: message.subject,
    body: `${message.body}\n\n[forwarded: ${delivery.toAgent}, to whom it was sent, has ended]`,
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

/** Who reads a notice for this name: the name itself, or the nearest live ancestor of an agent that has ended. */
export async function readerOfNotice(tx: Tx, name: string): Promise<string> {
  return (await tx.agents.byName(name)) === undefined ? name : nearestLiveAncestor(tx, name);
}
