import type { Message } from "../../domain/mail/types.ts";
import type { OutcomeMail } from "../../domain/merge/outcome-mail.ts";
import type { Tx } from "../../ports/store.ts";
import { fromEngine, post, tellOperator } from "../mail/post.ts";
import { markRead } from "../mail/read.ts";
import type { Context } from "../usecase.ts";

type Writing = Pick<Context, "ids" | "now">;

/** Asks the operator for a decision in the engine's name. Returns the id of the message. */
export async function askOperator(
  tx: Tx,
  context: Writing,
  { runId, ...mail }: OutcomeMail & { readonly runId: string | null },
): Promise<string> {
  const message = await tellOperator(tx, context, { ...mail, runId, type: "decision_gate", priority: "high" });
  return message.id;
}

/** Open questions of the engine, without an answer, that `isMeant` accepts. */
export async function openQuestions(tx: Tx, isMeant: (message: Message) => boolean): Promise<readonly Message[]> {
  const asked = await tx.messages.list({ to: "operator", type: "decision_gate" });
  const open: Message[] = [];
  for (const message of asked) {
    if (!isMeant(message)) continue;
    const thread = await tx.messages.thread(message.threadId);
    if (thread.length === 1) open.push(message);
  }
  return open;
}

/** Closes a question that has lost its meaning, and marks the message that asked as read. */
export async function closeQuestion(tx: Tx, context: Writing, question: Message, subject: string): Promise<void> {
  const { id, threadId, runId } = question;
  await markRead(tx, context.now, question, "operator");
  await post(tx, context, {
    ...fromEngine,
    runId,
    address: "operator",
    recipients: [],
    subject,
    body: "This question does not matter any more.",
    payload: JSON.stringify({ closes: id }),
    threadId,
    type: "status",
    priority: "low",
  });
}
