import { hasEnded } from "../../domain/agent/agent.ts";
import type { Message } from "../../domain/mail/types.ts";
import { ok } from "../../domain/result.ts";
import { decimal, fields, text } from "../../domain/schema/schema.ts";
import type { Tx } from "../../ports/store.ts";
import { messageInSight } from "../mail/find-message.ts";
import { mayAnswer } from "../mail/waits.ts";
import type { Stream } from "../operation.ts";
import type { UseCase } from "../usecase.ts";

export interface AnswerReply {
  readonly answer: Pick<Message, "id" | "fromAgent" | "subject" | "body" | "payload" | "createdAt"> | null;
  /** Milliseconds from the question to the answer. */
  readonly latencyMs: number | null;
  /** The agent that was asked has ended without an answer. */
  readonly ended: boolean;
}

/** The first message by which a recipient answered a question, in the question's thread. */
export const findAnswer: UseCase<{ readonly sentId: string }, AnswerReply> = {
  kind: "read",
  request: fields({ sentId: text }),
  run: async (tx, { caller }, { sentId }) => {
    const sent = await messageInSight(tx, caller, sentId);
    if (!sent.ok) return sent;
    const question = sent.value;
    for (const message of await tx.messages.thread(question.threadId)) {
      if (message.seq <= question.seq || message.fromAgent === question.fromAgent) continue;
      if ((await tx.deliveries.get(message.seq, question.fromAgent)) === undefined) continue;
      if (!(await isAnswer(tx, question, message))) continue;
      const { id, fromAgent, subject, body, payload, createdAt } = message;
      const latencyMs = Math.max(0, createdAt - question.createdAt);
      return ok({ answer: { id, fromAgent, subject, body, payload, createdAt }, latencyMs, ended: false });
    }
    const asked = await tx.agents.byName(question.address);
    return ok({ answer: null, latencyMs: null, ended: asked !== undefined && hasEnded(asked) });
  },
};

/** If the asked agent has ended, the question was handed on as a copy, and its reader answers that copy. */
async function isAnswer(tx: Tx, question: Message, message: Message): Promise<boolean> {
  if (await mayAnswer(tx, question, message)) return true;
  const copy = message.replyTo === null ? undefined : await tx.messages.get(message.replyTo);
  return copy?.replyTo === question.id && copy.fromAgent === question.fromAgent && mayAnswer(tx, copy, message);
}

/** The answer, or none when the time is up or the asked agent has ended. An item says that the wait goes on. */
export const followAnswer: Stream<
  { readonly sentId: string; readonly patienceMs: number },
  AnswerReply,
  { readonly waiting: true }
> = {
  kind: "stream",
  request: fields({ sentId: text, patienceMs: decimal }),
  place: "engine",
  run: async (world, { sentId, patienceMs }, { onItem }) => {
    const deadline = performance.now() + patienceMs;
    return world.until(async () => {
      const found = await world.call("coordinator.answer", { sentId });
      if (!found.ok || found.value.answer !== null || found.value.ended) return found;
      if (performance.now() > deadline) return found;
      onItem({ waiting: true });
      return undefined;
    });
  },
};
