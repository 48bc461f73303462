import {
  checkPayload,
  fillPayload,
  type PayloadFacts,
  payloadFields,
  payloadRefusal,
} from "../../domain/mail/payload.ts";
import type { MailType } from "../../domain/mail/types.ts";
import type { InvalidInput } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Sender } from "./sender.ts";
import type { Target } from "./target.ts";

export interface PayloadInput {
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
    // Gate results and changed files are for the verified completion step; here nobody has looked at them.
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
