import { type ApiFailure, apiRetryEvent, rateLimitEvent, syntheticAssistantEvent } from "./stream/events.ts";
import type { Outcome } from "./stream/result.ts";
import type { Stage } from "./tools.ts";

interface Trouble {
  readonly status: number;
  readonly error?: string | undefined;
  readonly retries: number;
  readonly recover?: boolean;
  readonly resetInMs?: number | undefined;
}

const firstRetryMs = 500;

/** The words the imitated program uses for a status: its own, and those of the API. */
const names: Readonly<Record<number, { readonly error: string; readonly type: string }>> = {
  400: { error: "unknown", type: "invalid_request_error" },
  401: { error: "authentication_failed", type: "authentication_error" },
  403: { error: "authentication_failed", type: "permission_error" },
  404: { error: "model_not_found", type: "not_found_error" },
  429: { error: "rate_limit", type: "rate_limit_error" },
  529: { error: "overloaded", type: "overloaded_error" },
};
const serverError = { error: "server_error", type: "api_error" };

/** A model call that fails, after retries that are announced but not waited for. Undefined when it recovers. */
export async function failModelCall(trouble: Trouble, { out, turn }: Stage): Promise<Outcome | undefined> {
  const { retries, resetInMs, recover = false } = trouble;
  const failure = describe(trouble);
  const session = turn.session;
  for (let attempt = 1; attempt <= retries; attempt++) {
    const delayMs = resetInMs ?? firstRetryMs * 2 ** (attempt - 1);
    await out.event(apiRetryEvent({ session, attempt, retries, delayMs, failure }));
  }
  if (recover) return undefined;
  if (resetInMs !== undefined) await out.event(rateLimitEvent(session, Date.now() + resetInMs));
  await out.event(syntheticAssistantEvent(session, failure));
  return { kind: "api-error", failure };
}

function describe({ status, error }: Trouble): ApiFailure {
  const known = names[status] ?? serverError;
  const text = status === 429 ? "Request rejected (429) · scripted 429" : `${status} scripted ${status}`;
  return { status, error: error ?? known.error, type: known.type, text: `API Error: ${text}` };
}
