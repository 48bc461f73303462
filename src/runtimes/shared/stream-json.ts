import type { TurnEnded, TurnEvent } from "../../domain/turn/turn-event.ts";
import type { LineReader } from "../../ports/runtime.ts";
import { type Fields, fields, list, number, text } from "./json-fields.ts";
import { turnCost, type UsageAccount, usageAccount } from "./stream-json-usage.ts";

/**
 * Reads the stream-json output of Claude Code (2.1.197 to 2.1.325 seen). Unknown types are `other`, broken lines are
 * `malformed`; neither ends a turn. A message's usage is reported once however many blocks repeat it.
 */
export function streamJsonReader(): LineReader {
  const usage = usageAccount();
  let limited: { resetAt: number | null } | undefined;
  let session: string | undefined;
  /** The id stands on every line; it is news only when it changes. */
  const news = (events: readonly TurnEvent[]): readonly TurnEvent[] =>
    events.filter((event) => {
      if (event.kind !== "session") return true;
      const isNew = event.providerSessionId !== session;
      session = event.providerSessionId;
      return isNew;
    });
  return (line) => {
    if (line.trim() === "") return [];
    const event = parse(line);
    if (event === undefined) return [{ kind: "malformed", bytes: line.length }];
    const type = text(event.type);
    if (type === "system") return news(readSystem(event));
    if (type === "rate_limit_event") {
      // It also tells how much is left while everything is allowed.
      const allowed = text(fields(event.rate_limit_info)?.status)?.startsWith("allowed") === true;
      if (!allowed) limited = { resetAt: resetTime(event) ?? limited?.resetAt ?? null };
      return [{ kind: "other", name: type }];
    }
    if (type === "assistant") {
      if (text(event.error) === "rate_limit") limited = { resetAt: resetTime(event) ?? limited?.resetAt ?? null };
      return readAssistant(event, usage);
    }
    if (type === "user") return readToolResults(event);
    if (type === "result") return news([...sessionOf(event), ...usage.ofResult(event), readResult(event, limited)]);
    return [{ kind: "other", name: type ?? "unknown" }];
  };
}

function parse(line: string): Fields | undefined {
  try {
    return fields(JSON.parse(line));
  } catch {
    // A line that is not JSON is an observation about the stream, which the caller reports as `malformed`.
    return undefined;
  }
}

function readSystem(event: Fields): TurnEvent[] {
  const subtype = text(event.subtype);
  if (subtype === "init") {
    return sessionOf(event, text(event.model) ?? null, text(event.claude_code_version) ?? null);
  }
  if (subtype === "api_retry") {
    const cause = text(event.error) ?? `HTTP ${number(event.error_status) ?? "error"}`;
    return [{ kind: "retry", attempt: number(event.attempt) ?? 0, delayMs: number(event.retry_delay_ms) ?? 0, cause }];
  }
  return [{ kind: "other", name: `system/${subtype ?? "unknown"}` }];
}

function sessionOf(event: Fields, model: string | null = null, version: string | null = null): TurnEvent[] {
  const providerSessionId = text(event.session_id);
  return providerSessionId === undefined ? [] : [{ kind: "session", providerSessionId, model, version }];
}

function readAssistant(event: Fields, usage: UsageAccount): TurnEvent[] {
  const message = fields(event.message);
  const found: TurnEvent[] = [];
  for (const block of list(message?.content)) {
    const part = fields(block);
    const kind = text(part?.type);
    if (kind === "text") found.push({ kind: "text", text: text(part?.text) ?? "" });
    else if (kind === "thinking") found.push({ kind: "thinking" });
    else if (kind === "tool_use") {
      found.push({ kind: "tool-start", id: text(part?.id) ?? "", name: text(part?.name) ?? "", input: part?.input });
    }
  }
  return [...found, ...usage.ofMessage(message)];
}

function readToolResults(event: Fields): TurnEvent[] {
  const found: TurnEvent[] = [];
  for (const block of list(fields(event.message)?.content)) {
    const part = fields(block);
    if (text(part?.type) !== "tool_result") continue;
    found.push({ kind: "tool-end", id: text(part?.tool_use_id) ?? "", failed: part?.is_error === true });
  }
  return found;
}

/** `is_error` means failure whatever the subtype says. */
function readResult(event: Fields, limited: { resetAt: number | null } | undefined): TurnEnded {
  const failed = event.is_error === true || text(event.subtype) === "error_during_execution";
  const rateLimited = limited !== undefined || number(event.api_error_status) === 429;
  const reason = text(event.terminal_reason);
  const cause = !failed
    ? "completed"
    : rateLimited
      ? "rate-limit"
      : reason === "api_error" || number(event.api_error_status) !== undefined
        ? "api-error"
        : reason === "aborted_tools"
          ? "aborted"
          : "other";
  const errors = list(event.errors).map(String).join("; ");
  return {
    kind: "turn-ended",
    failed,
    text: text(event.result) ?? (errors === "" ? null : errors),
    cause,
    resetAt: failed && rateLimited ? (limited?.resetAt ?? resetTime(event)) : null,
    costUsd: turnCost(event),
  };
}

/** Claude names the moment a usage limit lifts as seconds since 1970 after a bar, or as a field. */
function resetTime(event: Fields): number | null {
  const stated = number(event.resets_at) ?? number(fields(event.rate_limit_info)?.resetsAt);
  if (stated !== undefined) return Math.round(stated < 1e12 ? stated * 1000 : stated);
  const said = /limit reached\|(\d{10,13})/i.exec(JSON.stringify(event.message ?? event.result ?? ""))?.[1];
  if (said === undefined) return null;
  return said.length === 10 ? Number(said) * 1000 : Number(said);
}
