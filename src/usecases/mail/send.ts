import { parsePriority, parseType } from "../../domain/mail/types.ts";
import { fields, flag, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";
import { checkWritten, prepareWritten, type WrittenRequest, writtenFields, writtenParts } from "./compose.ts";
import { findSender } from "./sender.ts";
import { type SendReply, submit } from "./submit.ts";
import { tellWordsAbove } from "./tell-answer.ts";
import { asks } from "./waits.ts";

export interface SendRequest extends WrittenRequest {
  readonly to: string;
  readonly subject: string;
  readonly wake?: boolean | undefined;
  /** Refuse unknown names also for a person. */
  readonly strict?: boolean | undefined;
  readonly allowEmpty?: boolean | undefined;
  readonly expectsReply?: boolean | undefined;
}

/** Sends one message to a name or a group. */
export const sendMail: UseCase<SendRequest, SendReply> = {
  kind: "write",
  request: fields(
    { to: text, subject: text, body: text },
    { ...writtenFields, wake: flag, strict: flag, allowEmpty: flag, expectsReply: flag },
  ),
  prepare: prepareWritten,
  run: async (tx, context, request) => {
    const written = checkWritten({ subject: request.subject, body: request.body }, request.dedupeKey);
    if (!written.ok) return written;
    const type = parseType(request.type ?? "status");
    if (!type.ok) return type;
    const priority = parsePriority(request.priority ?? "normal");
    if (!priority.ok) return priority;
    const sender = await findSender(tx, context.caller, request.from);
    if (!sender.ok) return sender;
    const sent = await submit(tx, context, sender.value, {
      to: request.to,
      subject: request.subject,
      ...writtenParts(request),
      type: type.value,
      priority: priority.value,
      expectsReply: request.expectsReply === true || asks(type.value),
      wake: request.wake,
      untyped: request.type === undefined,
      strict: request.strict === true,
      allowEmpty: request.allowEmpty === true,
      answer: null,
    });
    if (!sent.ok || sent.value.id === null || sent.value.duplicate || sender.value.name !== "operator") return sent;
    const { id: threadId, recipients: readers } = sent.value;
    const { subject, body } = request;
    await tellWordsAbove(tx, context, { threadId, readers, type: type.value, subject, body });
    return sent;
  },
};
