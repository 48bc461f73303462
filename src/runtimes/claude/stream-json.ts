import { toolSummary } from "../../domain/event/tool-call.ts";
import type { TurnEnded, TurnEvent } from "../../domain/turn/turn-event.ts";
import type { LineReader } from "../../ports/runtime.ts";
import { type Fields, fields, list, number, text } from "../shared/json-fields.ts";
import { repliesTo } from "./control.ts";
import {
  byStatus,
  type FailureNotes,
  failureNotes,
  forbiddenMode,
  type PermissionMode,
  saidIn,
} from "./stream-json-failures.ts";
import { type UsageAccount, usageAccount } from "./stream-json-usage.ts";

/**
 * Reads the stream-json output of Claude Code (2.1.197 to 2.1.325 seen). Unknown types are `other`, broken lines are
 * `malformed`; neither ends a turn. A message's usage is reported once however many blocks repeat it.
 */
export function streamJsonReader(mode: PermissionMode = "bypassPermissions"): LineReader {
  const usage = usageAccount();
  const notes = failureNotes(mode);
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
    const event = line.trim() === "" ? undefined : parse(line);
    return { events: read(line, event), replies: event === undefined ? [] : repliesTo(event) };
  };

  function read(line: string, event: Fields | undefined): readonly TurnEvent[] {
    if (line.trim() === "") return [];
    if (event === undefined) return [{ kind: "malformed", bytes: line.length }];
    notes.note(event);
    const type = text(event.type);
    if (type === "system") return news(readSystem(event, mode));
    if (type === "assistant") return readAssistant(event, usage);
    if (type === "user") return readToolResults(event);
    if (type === "result")
      return news([...sessionOf(event), ...usage.ofResult(event), readResult(event, usage, notes)]);
    return [{ kind: "other", name: type ?? "unknown" }];
  }
}

function parse(line: string): Fields | undefined {
  try {
    return fields(JSON.parse(line));
  } catch {
    // A line that is not JSON is an observation about the stream, which the caller reports as `malformed`.
    return undefined;
  }
}

function readSystem(event: Fields, mode: PermissionMode): TurnEvent[] {
  const subtype = text(event.subtype);
  if (subtype === "init") {
    const forbidden = forbiddenMode(event, mode);
    const begun = sessionOf(event, text(event.model) ?? null, text(event.claude_code_version) ?? null);
    return forbidden === undefined ? begun : [...begun, { kind: "hopeless", failure: "mode", text: forbidden }];
  }
  if (subtype === "api_retry") return readRetry(event);
  return [{ kind: "other", name: `system/${subtype ?? "unknown"}` }];
}

/** After this many refusals of one key no further one will be different; the CLI itself would go on for minutes. */
const patienceWithKeys = 3;

function readRetry(event: Fields): TurnEvent[] {
  const status = number(event.error_status);
  const cause = text(event.error) ?? `HTTP ${status ?? "error"}`;
  const attempt = number(event.attempt) ?? 0;
  const retry = { kind: "retry", attempt, delayMs: number(event.retry_delay_ms) ?? 0, cause } as const;
  if (status === undefined || attempt < patienceWithKeys || byStatus(status) !== "login") return [retry];
  return [retry, { kind: "hopeless", failure: "login", text: `${cause} (HTTP ${status}), ${attempt} times` }];
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
    else if (kind === "thinking") found.push({ kind: "thinking", text: text(part?.thinking) ?? "" });
    else if (kind === "tool_use") {
      const call = { id: text(part?.id) ?? "", name: text(part?.name) ?? "", input: part?.input };
      found.push({ kind: "tool-start", ...call, summary: toolSummary(call.input), at: timeOf(event) });
    }
  }
  return [...found, ...usage.ofMessage(message)];
}

function readToolResults(event: Fields): TurnEvent[] {
  const found: TurnEvent[] = [];
  for (const block of list(fields(event.message)?.content)) {
    const part = fields(block);
    if (text(part?.type) !== "tool_result") continue;
    const failed = part?.is_error === true;
    const said = failed ? { said: textOf(part?.content) } : {};
    found.push({ kind: "tool-end", id: text(part?.tool_use_id) ?? "", failed, ...said, at: timeOf(event) });
  }
  return found;
}

/** Newer versions stamp each line; 2.1.197 stamps only the answers of tools. */
function timeOf(event: Fields): number | null {
  const at = Date.parse(text(event.timestamp) ?? "");
  return Number.isNaN(at) ? null : at;
}

/** The answer of a tool is one text, or several blocks of which some are texts. */
const textOf = (content: unknown): string =>
  text(content) ??
  list(content)
    .flatMap((block) => text(fields(block)?.text) ?? [])
    .join("\n");

/** `is_error` means failure whatever the subtype says. */
function readResult(event: Fields, usage: UsageAccount, notes: FailureNotes): TurnEnded {
  const failure = notes.failureOf(event);
  const said = notes.forbidden ?? saidIn(event);
  return {
    kind: "turn-ended",
    failure,
    text: said === "" && event.result === undefined ? null : said,
    resetAt: failure === "rate_limit" ? notes.resetOf(event) : null,
    costUsd: usage.costOf(event),
  };
}
