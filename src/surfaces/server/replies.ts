import type { ErrorReply } from "../../contract/http/frames.ts";
import { type FailureData, failureOf } from "../../domain/failure.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Description } from "../shared/description.ts";
import { type Exit, exits } from "../shared/exits.ts";
import { describeFailure } from "../shared/failures.ts";
import { describeRefusal } from "../shared/refusals.ts";

/** On every answer, whatever it is. */
export const commonHeaders = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
} as const;

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...commonHeaders, ...headers },
  });

/** An answer of the server itself, not of an operation. */
export function refuse(status: number, code: string, message: string, hint?: string): Response {
  const error = { code, message, ...(hint === undefined ? {} : { hint }) };
  return json(status, { error } satisfies ErrorReply);
}

export const refusalReply = (refusal: Refusal): Response => describedReply(describeRefusal(refusal));

export function failureReply(error: unknown): Response {
  const failure: FailureData = failureOf(error);
  return describedReply(describeFailure(failure));
}

function describedReply({ code, exit, message, hint, details }: Description): Response {
  const error = { code, message, ...(hint === undefined ? {} : { hint }), details };
  return json(statuses[exit] ?? 409, { error } satisfies ErrorReply);
}

/** What a rule refuses is a conflict with how things stand. */
const statuses: Partial<Record<Exit, number>> = {
  [exits.unexpected]: 500,
  [exits.usage]: 400,
  [exits.notFound]: 404,
  [exits.permission]: 403,
};
