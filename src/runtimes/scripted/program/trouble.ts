import { type FailureCause, failures } from "../../../domain/turn/failure.ts";
import {
  type ApiFailure,
  apiRetryEvent,
  rateLimitEvent,
  refusalEvent,
  syntheticAssistantEvent,
} from "./stream/events.ts";
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

/** What the imitated program says for each cause, as it was seen to. */
const spoken: Readonly<Partial<Record<FailureCause, Partial<ApiFailure> & Pick<ApiFailure, "status">>>> = {
  rate_limit: { status: 429 },
  overloaded: { status: 529, error: "server_error" },
  server_error: { status: 500 },
  network: { status: null, error: "unknown", type: "connection_failed", text: "API Error: Connection refused" },
  login: { status: 401, text: "Invalid API key · Fix external API key" },
  credit: { status: 400, error: "billing_error", text: "Credit balance is too low" },
  model: { status: 404, text: "There's an issue with the selected model" },
  refusal: {
    status: null,
    error: "invalid_request",
    stopReason: "refusal",
    text: "API Error: safeguards flagged this",
  },
  context_full: {
    status: 400,
    error: "invalid_request",
    terminalReason: "prompt_too_long",
    text: "Prompt is too long · and cannot be compacted",
  },
  rejected: { status: 400, text: "API Error: 400 scripted 400" },
};

/** Ends the turn as the imitated program would for this cause. */
export async function failTurn(cause: FailureCause, { out, turn }: Stage): Promise<Outcome> {
  if (cause === "budget") return { kind: "budget", limitUsd: 0.01 };
  if (cause === "session_lost") return { kind: "session-lost", session: turn.session };
  if (cause === "mode") {
    await turn.open({ cwd: process.cwd(), permissionMode: "default", mcpServers: [] });
    return { kind: "success", text: "every tool was denied" };
  }
  const said = spoken[cause] ?? { status: 500 };
  const failure = { ...describe({ status: said.status ?? 0, retries: 0 }), text: failures[cause].words, ...said };
  if (cause === "refusal") await out.event(refusalEvent(turn.session));
  await out.event(syntheticAssistantEvent(turn.session, failure));
  return { kind: "api-error", failure };
}

function describe({ status, error }: Trouble): ApiFailure {
  const known = names[status] ?? serverError;
  const text = status === 429 ? "Request rejected (429) · scripted 429" : `${status} scripted ${status}`;
  return { status, error: error ?? known.error, type: known.type, text: `API Error: ${text}` };
}
