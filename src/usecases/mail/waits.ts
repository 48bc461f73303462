import type { Agent } from "../../domain/agent/agent.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import type { MailType, Message } from "../../domain/mail/types.ts";
import type { Tx } from "../../ports/store.ts";
import type { Answer } from "./compose.ts";
import type { Reader } from "./target.ts";

/** Types that call for an answer by themselves. */
export const asks = (type: MailType): boolean => type === "question" || type === "decision_gate";

/** An agent that asked is idle on purpose until it is answered. */
export async function openWait(tx: Tx, agentName: string, message: Message): Promise<void> {
  if (!message.expectsReply) return;
  const { deadline } = payloadFields(message.payload);
  const at = typeof deadline === "string" ? Date.parse(deadline) : Number.NaN;
  await tx.waits.add({
    agentName,
    kind: "reply",
    ref: message.id,
    since: message.createdAt,
    deadline: Number.isNaN(at) ? null : at,
  });
}

/**
 * Lets a recovered agent wait again for answers to its questions: its release had ended these waits. Questions that
 * were answered meanwhile stay closed; the answer is in its mail.
 */
export async function waitForAnswersAgain(tx: Tx, { name, runId }: Pick<Agent, "name" | "runId">): Promise<void> {
  const asked = await tx.messages.list({ from: name, runId });
  for (const message of asked) {
    // What the engine wrote in its name has no id of an agent.
    if (!message.expectsReply || message.fromAgentId === null) continue;
    if (!(await isAnswered(tx, message))) await openWait(tx, name, message);
  }
}

async function isAnswered(tx: Tx, question: Message): Promise<boolean> {
  const thread = await tx.messages.thread(question.threadId);
  const copies: readonly Message[] = thread.filter(
    ({ replyTo, fromAgent, fromAgentId }) =>
      replyTo === question.id && fromAgent === question.fromAgent && fromAgentId === null,
  );
  for (const message of thread) {
    if (message.fromAgent === question.fromAgent) continue;
    const { gateId } = message.type === "decision" ? payloadFields(message.payload) : {};
    const about = [question, ...copies].find(({ id }) => id === message.replyTo || id === gateId);
    if (about !== undefined && (await mayAnswer(tx, about, message))) return true;
  }
  return false;
}

/** Ends the waits of the readers: for the answered question, or for the decision that an addressee of the question made. */
export async function closeWaits(
  tx: Tx,
  message: Message,
  answer: Answer | null,
  readers: readonly Reader[],
): Promise<void> {
  if (answer !== null && answer.awaitedBy !== null && (await settles(tx, message, answer.replyTo))) {
    await tx.waits.remove(answer.awaitedBy, "reply", answer.replyTo);
    const original = await handedOnFrom(tx, answer.replyTo);
    if (original !== undefined) await tx.waits.remove(answer.awaitedBy, "reply", original);
  }
  if (message.type !== "decision") return;
  const { gateId } = payloadFields(message.payload);
  if (typeof gateId !== "string" || !(await settles(tx, message, gateId))) return;
  for (const { name } of readers) await tx.waits.remove(name, "reply", gateId);
}

/** The question of which this message is a copy. The engine makes a copy when the addressee has ended. */
async function handedOnFrom(tx: Tx, id: string): Promise<string | undefined> {
  const message = await tx.messages.get(id);
  if (message === undefined || message.replyTo === null || message.fromAgentId !== null) return undefined;
  const original = await tx.messages.get(message.replyTo);
  return original?.fromAgent === message.fromAgent ? original.id : undefined;
}

async function settles(tx: Tx, message: Message, questionId: string): Promise<boolean> {
  const question = await tx.messages.get(questionId);
  return question !== undefined && mayAnswer(tx, question, message);
}

/**
 * Only the word of an agent that was asked is an answer; a stranger that learned the id of a question must not be able
 * to settle it. What people and the engine say, they may say in any thread.
 */
export async function mayAnswer(
  tx: Tx,
  question: Pick<Message, "seq">,
  { fromAgent, fromAgentId }: Pick<Message, "fromAgent" | "fromAgentId">,
): Promise<boolean> {
  return fromAgentId === null || (await tx.deliveries.get(question.seq, fromAgent)) !== undefined;
}
