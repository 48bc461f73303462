import { capBody, defaultMailLimits, type MailLimits } from "../../domain/mail/limits.ts";
import {
  checkPayload,
  fillPayload,
  type PayloadFacts,
  payloadFields,
  payloadRefusal,
} from "../../domain/mail/payload.ts";
import type { MailType, Priority } from "../../domain/mail/types.ts";
import { type InvalidInput, invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { notSent, text } from "../../domain/schema/schema.ts";
import { checkSize, sizes } from "../../domain/text/sizes.ts";
import type { ProjectFiles } from "../../ports/project-files.ts";
import type { Settings } from "../../ports/settings.ts";
import type { PrepareTerms } from "../usecase.ts";
import { loadFollower } from "./followers.ts";
import type { Sender } from "./sender.ts";
import type { Target } from "./target.ts";

/** What a request to send and a request to reply have in common. */
export interface WrittenRequest {
  readonly body: string;
  readonly from?: string | undefined;
  readonly type?: string | undefined;
  readonly priority?: string | undefined;
  /** JSON text. */
  readonly payload?: string | undefined;
  /** Of several messages of one sender with this key only the first is stored. */
  readonly dedupeKey?: string | undefined;
  /** Set by `prepareWritten`; a value of the caller is ignored. */
  readonly blobPath?: string | null | undefined;
  /** Set by `prepareWritten`; a value of the caller is ignored. See `Announced`. */
  readonly head?: string | null | undefined;
}

export const writtenFields = {
  from: text,
  type: text,
  priority: text,
  payload: text,
  dedupeKey: text,
  blobPath: notSent,
  head: notSent,
} as const;

/** How the keys of messages begin that the engine writes in the name of an agent. Senders are refused such keys. */
export const engineKeys = "ov:";

/** Loads what follows a message of its type, looks at the branch it announces, and stores a long body as a file. */
export async function prepareWritten<Request extends WrittenRequest>(
  files: ProjectFiles,
  { settings, tipOf }: Pick<PrepareTerms, "settings" | "tipOf">,
  request: Request,
): Promise<Result<Request, Refusal>> {
  await loadFollower(request.type);
  const fitted = await fitBody(files, settings, request.body);
  if (!fitted.ok) return fitted;
  const { branch } = request.type === "merge_ready" ? payloadFields(request.payload ?? null) : {};
  const head = typeof branch === "string" ? await tipOf?.(branch) : undefined;
  return ok({ ...request, ...fitted.value, head });
}

/** A message as its sender composed it, in words that were already checked. */
export interface Composition {
  readonly to: string;
  readonly subject: string;
  readonly body: string;
  readonly blobPath: string | null;
  readonly type: MailType;
  readonly priority: Priority;
  readonly payload: string | null;
  readonly dedupeKey: string | null;
  readonly expectsReply: boolean;
  /** The sender's own word: `--wake` or `--no-wake`. */
  readonly wake: boolean | undefined;
  /** The sender named no type. */
  readonly untyped?: boolean;
  readonly strict: boolean;
  readonly allowEmpty: boolean;
  readonly answer: Answer | null;
  /** See `Announced`. */
  readonly head?: string | null | undefined;
  /** The engine has verified what the payload says. Only the engine sets it. */
  readonly proven?: boolean;
}

/** The message that is answered. */
export interface Answer {
  readonly threadId: string;
  readonly replyTo: string;
  readonly hop: number;
  /** The agent whose wait it ends; null when no agent waits for it. */
  readonly awaitedBy: string | null;
}

/** Refuses an empty subject or body: a reader could do nothing with it. */
export function checkWritten(
  written: { readonly subject?: string; readonly body: string },
  dedupeKey?: string,
): Result<null, Refusal> {
  if (dedupeKey?.startsWith(engineKeys) === true) {
    const problem = `must not begin with ${engineKeys}, which is for messages of the engine; the message was not sent`;
    return no(invalid("dedupe-key", problem, { value: dedupeKey }));
  }
  if (written.subject !== undefined && /^\s*\[engine\]/i.test(written.subject)) {
    return no(invalid("subject", "must not begin with [ENGINE], by which the engine's own mail is known"));
  }
  for (const [field, value] of Object.entries(written)) {
    if (value.trim() === "") return no(invalid(field, "is empty; the message was not sent"));
  }
  return ok(null);
}

export interface Body {
  readonly body: string;
  readonly blobPath: string | null;
}

/** Puts a long body into a file and keeps its beginning. The file is named by its content, so repeating is harmless. */
export async function fitBody(files: ProjectFiles, settings: Settings, body: string): Promise<Result<Body, Refusal>> {
  const sized = checkSize("body", body, sizes.document);
  if (!sized.ok) return sized;
  const limits = limitsOf(settings);
  if (capBody(body, "", limits).blob === null) return ok({ body, blobPath: null });
  const blobPath = await files.writeMailBlob(body);
  return ok({ body: capBody(body, blobPath, limits).body, blobPath });
}

interface PayloadInput {
  readonly type: MailType;
  readonly payload: string | null;
  readonly body: string;
  readonly proven?: boolean;
}

/** Adds to a payload what the store knows, then checks it against its type. */
export function completePayload(
  input: PayloadInput,
  sender: Sender,
  target: Target,
): Result<string | null, InvalidInput> {
  const filled = fillPayload(input.type, input.payload, factsFor(input, sender, target));
  const problem = payloadRefusal(checkPayload(input.type, filled));
  if (problem !== undefined) return no(problem);
  if (input.proven === true) return ok(filled);
  return ok(input.type === "worker_done" ? unverified(filled) : filled);
}

function factsFor({ body }: PayloadInput, sender: Sender, target: Target): PayloadFacts {
  const reader = target.group ? undefined : target.readers[0];
  return {
    "sender.name": sender.name,
    "sender.task": sender.known?.taskId ?? null,
    "sender.branch": sender.known?.branch ?? null,
    // Gate results and changed files are for the verified completion step; here they were not looked at.
    "sender.exitCode": null,
    "sender.files": [],
    "message.body": body,
    ...(reader === undefined ? {} : { "recipient.name": reader.name }),
    ...(reader === undefined || reader.agent === null
      ? {}
      : {
          "recipient.capability": reader.agent.capability,
          "recipient.task": reader.agent.taskId,
          "recipient.branch": reader.agent.branch,
          "recipient.spec": reader.agent.specPath,
          "recipient.scope": reader.agent.scope,
        }),
  };
}

/** A worker's bare word that it is done counts, but the reader is told that nothing proved it. */
function unverified(payload: string | null): string {
  const { verified: _, receiptId: __, ...said } = payloadFields(payload);
  return JSON.stringify({ ...said, unverified: true });
}

/** The limits of sending as this project sets them. */
export const limitsOf = ({ mail }: Settings): MailLimits => ({
  ...defaultMailLimits,
  perMinute: mail.rateLimits.perMinute,
  groupsPerMinute: mail.rateLimits.broadcastPerMinute,
  maxHop: mail.hopLimit,
  maxBodyBytes: mail.maxBodyBytes,
});

/** What goes from either request into the message as it is. */
export const writtenParts = ({ body, blobPath, head, payload, dedupeKey }: WrittenRequest) => ({
  body,
  blobPath: blobPath ?? null,
  head,
  payload: payload ?? null,
  dedupeKey: dedupeKey ?? null,
});
