import { planReply } from "../../domain/mail/reply.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { checkWritten, prepareWritten, type WrittenRequest, writtenFields } from "./compose.ts";
import { findMessage } from "./find-message.ts";
import { markRead } from "./read.ts";
import { findSender } from "./sender.ts";
import { type SendReply, submit } from "./submit.ts";
import { asks } from "./waits.ts";
import { parsePriority, parseType } from "./words.ts";

export interface ReplyRequest extends WrittenRequest {
  /** The message that is answered. */
  readonly id: string;
}

/** Answers a message in its thread. A reply to a question or decision ends its author's wait. */
export const replyToMail: UseCase<ReplyRequest, SendReply> = {
  kind: "write",
  request: fields({ id: text, body: text }, writtenFields),
  prepare: prepareWritten,
  run: async (tx, context, request) => {
    const written = checkWritten({ body: request.body });
    if (!written.ok) return written;
    const type = parseType(request.type ?? "status");
    if (!type.ok) return type;
    const priority = request.priority === undefined ? undefined : parsePriority(request.priority);
    if (priority?.ok === false) return priority;
    const original = await findMessage(tx, request.id);
    if (!original.ok) return original;
    const sender = await findSender(tx, context.caller, request.from);
    if (!sender.ok) return sender;
    const plan = planReply(original.value, {
      replier: sender.value.name,
      type: type.value,
      ...(priority === undefined ? {} : { priority: priority.value }),
    });
    const { threadId, replyTo, hop } = plan;
    const sent = await submit(tx, context, sender.value, {
      to: plan.address,
      subject: plan.subject,
      body: request.body,
      blobPath: request.blobPath ?? null,
      type: plan.type,
      priority: plan.priority,
      payload: request.payload ?? null,
      dedupeKey: request.dedupeKey ?? null,
      expectsReply: asks(plan.type),
      wake: undefined,
      strict: false,
      allowEmpty: false,
      answer: { threadId, replyTo, hop, awaitedBy: plan.answers ? original.value.fromAgent : null },
    });
    // A person who answers has read it. An agent's mail is settled with its turn.
    if (sent.ok && context.caller.kind !== "agent") await markRead(tx, context.now, original.value, sender.value.name);
    return sent;
  },
};
