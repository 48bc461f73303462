import type { FailureCause } from "../../domain/turn/failure.ts";
import { type Fields, fields, list, number, text } from "../shared/json-fields.ts";
import { ownServer } from "./tools.ts";

/** What the lines of a turn said about a failure before its result, which does not repeat all of it. */
export interface FailureNotes {
  /** Notes what this line says. */
  note(event: Fields): void;
  /** What the turn lacks that it needs, by its first line. */
  readonly lack: Lack | undefined;
  /** Why the turn with this result failed; null when it did not. */
  failureOf(result: Fields): FailureCause | null;
  /** When a limit that was named says it lifts. */
  resetOf(result: Fields): number | null;
}

/** The CLI's own words for a failed call of the model; `unknown` says nothing, and then the API's status decides. */
const causes: Readonly<Record<string, FailureCause>> = {
  rate_limit: "rate_limit",
  overloaded: "overloaded",
  authentication_failed: "login",
  oauth_org_not_allowed: "login",
  account_on_hold: "login",
  verification_required: "login",
  cloud_credential_error: "login",
  billing_error: "credit",
  model_not_found: "model",
  max_output_tokens: "unknown",
};

/**
 * The mode in which a turn is started: what the guard does not allow is asked about, and no person answers. It is no
 * mode that settings forbid, or that is refused to root.
 */
export const turnMode = "default";

export function failureNotes(): FailureNotes {
  let word: string | undefined;
  let limited: { resetAt: number | null } | undefined;
  let refused = false;
  let lack: Lack | undefined;
  const limit = (event: Fields): void => {
    limited = { resetAt: resetTime(event) ?? limited?.resetAt ?? null };
  };
  return {
    get lack() {
      return lack;
    },
    note: (event) => {
      const type = text(event.type);
      if (type === "system") {
        const subtype = text(event.subtype);
        if (subtype === "model_refusal_no_fallback") refused = true;
        if (subtype === "init") lack ??= lackOf(event);
      }
      // It also tells how much is left while everything is allowed.
      if (type === "rate_limit_event" && text(fields(event.rate_limit_info)?.status)?.startsWith("allowed") !== true) {
        limit(event);
      }
      if (type !== "assistant") return;
      word = text(event.error) ?? word;
      if (word === "rate_limit") limit(event);
    },
    failureOf: (result) => {
      const failed = result.is_error === true || text(result.subtype)?.startsWith("error_") === true;
      // It goes through its motions, without the tools that it needs: that is no success.
      if (lack !== undefined) return lack.failure;
      if (!failed) return null;
      return (
        stated(result) ??
        (refused || text(result.stop_reason) === "refusal" ? "refusal" : undefined) ??
        (limited === undefined ? byCall(result, word) : "rate_limit")
      );
    },
    resetOf: (result) => limited?.resetAt ?? resetTime(result),
  };
}

export interface Lack {
  readonly failure: FailureCause;
  readonly text: string;
}

/** The first line of a turn names its mode, which settings may have changed, and says whether our tools could be started. */
export function lackOf(init: Fields): Lack | undefined {
  const mode = text(init.permissionMode);
  if (mode !== undefined && mode !== turnMode) {
    return { failure: "mode", text: `it was started in the mode ${turnMode}, and its settings made that ${mode}` };
  }
  const own = list(init.mcp_servers)
    .map(fields)
    .find((server) => server?.name === ownServer);
  const status = text(own?.status);
  if (status === undefined || status === "connected" || status === "pending") return undefined;
  return { failure: "tools", text: `it says of its tool server ${ownServer}: ${status}` };
}

/** Causes that the result names by itself. */
function stated(result: Fields): FailureCause | undefined {
  const reason = text(result.terminal_reason);
  const said = saidIn(result);
  if (reason === "prompt_too_long" || reason === "blocking_limit" || /prompt is too long/i.test(said)) {
    return "context_full";
  }
  if (reason === "budget_exhausted" || text(result.subtype) === "error_max_budget_usd") return "budget";
  return said.includes("No conversation found") ? "session_lost" : undefined;
}

/** Why a call of the model failed: by the CLI's word, else by the API's status, else by what the text says. */
function byCall(result: Fields, word: string | undefined): FailureCause {
  const status = number(result.api_error_status);
  if (status === 529 || text(result.api_error_type) === "overloaded_error") return "overloaded";
  const known = word === undefined ? undefined : causes[word];
  if (known !== undefined) return known;
  if (status !== undefined) return byStatus(status);
  const said = saidIn(result);
  const code = /^API Error: (\d{3})\b/.exec(said)?.[1];
  if (code !== undefined) return byStatus(Number(code));
  const unreachable = /connection_|timeout|network/.test(text(result.api_error) ?? "") || unreachableText.test(said);
  if (unreachable) return "network";
  return word === "server_error" ? "server_error" : "unknown";
}

const unreachableText =
  /^API Error: (?:connection|unable to connect|request timed out|fetch failed)|E(?:CONN|TIMEDOUT|NOTFOUND|AI_AGAIN)/i;

export function byStatus(status: number): FailureCause {
  if (status === 429) return "rate_limit";
  if (status === 529) return "overloaded";
  if (status >= 500 || status === 408) return "server_error";
  if (status === 401 || status === 403) return "login";
  if (status === 402) return "credit";
  if (status === 404) return "model";
  return status >= 400 ? "rejected" : "unknown";
}

/** What a result says in words: its text, or the errors in its place. */
export const saidIn = (result: Fields): string => text(result.result) ?? list(result.errors).map(String).join("; ");

/** Claude names the moment a usage limit lifts as seconds since 1970 after a bar, or as a field. */
function resetTime(event: Fields): number | null {
  const stated = number(event.resets_at) ?? number(fields(event.rate_limit_info)?.resetsAt);
  if (stated !== undefined) return Math.round(stated < 1e12 ? stated * 1000 : stated);
  const said = /limit reached\|(\d{10,13})/i.exec(JSON.stringify(event.message ?? event.result ?? ""))?.[1];
  if (said === undefined) return null;
  return said.length === 10 ? Number(said) * 1000 : Number(said);
}
