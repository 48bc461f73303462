import { ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";
import { checkWritten, fitBody } from "./compose.ts";
import { loadFollower } from "./followers.ts";
import { findSender } from "./sender.ts";
import { type SendReply, submit } from "./submit.ts";
import { asks } from "./waits.ts";
import { parsePriority, parseType } from "./words.ts";

export interface SendRequest {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly from?: string | undefined;
  readonly type?: string | undefined;
  readonly priority?: string | undefined;
  /** JSON text. */
  readonly payload?: string | undefined;
  readonly wake?: boolean | undefined;
  /** Refuse unknown names also for a person. */
  readonly strict?: boolean | undefined;
  readonly allowEmpty?: boolean | undefined;
  readonly expectsReply?: boolean | undefined;
  /** Of several messages of one sender with this key only the first is stored. */
  readonly dedupeKey?: string | undefined;
  /** Set by `prepare`, whatever the caller sent. */
  readonly blobPath?: string | null | undefined;
}

/** Sends one message to a name or a group. */
export const sendMail: UseCase<SendRequest, SendReply> = {
  kind: "write",
  prepare: async (files, { settings }, request) => {
    await loadFollower(request.type);
    const fitted = await fitBody(files, settings, request.body);
    return fitted.ok ? ok({ ...request, ...fitted.value }) : fitted;
  },
  run: async (tx, context, request) => {
    const written = checkWritten({ subject: request.subject, body: request.body });
    if (!written.ok) return written;
    const type = parseType(request.type ?? "status");
    if (!type.ok) return type;
    const priority = parsePriority(request.priority ?? "normal");
    if (!priority.ok) return priority;
    const sender = await findSender(tx, context.caller, request.from);
    if (!sender.ok) return sender;
    return submit(tx, context, sender.value, {
      to: request.to,
      subject: request.subject,
      body: request.body,
      blobPath: request.blobPath ?? null,
      type: type.value,
      priority: priority.value,
      payload: request.payload ?? null,
      dedupeKey: request.dedupeKey ?? null,
      expectsReply: request.expectsReply === true || asks(type.value),
      wake: request.wake,
      strict: request.strict === true,
      allowEmpty: request.allowEmpty === true,
      answer: null,
    });
  },
};
