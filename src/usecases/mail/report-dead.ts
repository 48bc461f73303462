import { hasEnded } from "../../domain/agent/agent.ts";
import type { Mail } from "../../ports/store/mail.ts";
import type { Tx } from "../../ports/store.ts";
import { record } from "../events/record.ts";
import type { Context } from "../usecase.ts";
import { post, type Recipient } from "./post.ts";

/**
 * Tells the operator and the sender, once, that a message was given up. To be called in the transaction that made the
 * delivery dead. Dead mail of the engine itself is only an event: a notice about a notice would never end.
 */
export async function reportDead(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  mail: Mail,
  { readerEnds }: { readonly readerEnds: boolean },
): Promise<void> {
  const { message, delivery } = mail;
  const { attempts, lastError, toAgent } = delivery;
  const facts = {
    messageId: message.id,
    from: message.fromAgent,
    to: toAgent,
    type: message.type,
    attempts,
    lastError,
  };
  const about = { source: "engine", runId: message.runId, agentName: toAgent } as const;
  await record(tx, context.now, { ...about, type: "mail_dead", level: "error", data: facts });
  if (message.fromAgent === "system") return;
  const tries = attempts === 1 ? "1 attempt" : `${attempts} attempts`;
  // An ended agent reads no mail, however often it is sent. When it is recovered, it gets all the mail it missed.
  const next = readerEnds
    ? `${toAgent} has ended with it. When the cause is mended, let it go on with: ov recover ${toAgent} (it then gets this message)`
    : `Try again with: ov mail retry ${message.id}`;
  await post(tx, context, {
    from: "system",
    fromAgentId: null,
    runId: message.runId,
    verified: true,
    address: "operator",
    recipients: await recipientsOf(tx, mail),
    subject: `Not delivered: ${message.id} to ${toAgent}`,
    body: `The message "${message.subject}" from ${message.fromAgent} to ${toAgent} was given up after ${tries}: ${lastError ?? "no error was recorded"}. ${next}`,
    type: "error",
    priority: "high",
    payload: JSON.stringify(facts),
  });
}

async function recipientsOf(tx: Tx, { message }: Mail): Promise<readonly Recipient[]> {
  const operator = { name: "operator", wake: false };
  const sender = await tx.agents.byName(message.fromAgent);
  if (sender === undefined || hasEnded(sender)) return [operator];
  return [operator, { name: sender.name, wake: true }];
}
