import type { TokenCounts } from "../../domain/budget/usage.ts";
import { toolSummary } from "../../domain/event/tool-call.ts";
import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import type { LineReader } from "../../ports/runtime.ts";
import { causeOf, ended, jsonLines } from "../shared/exec-json.ts";
import { type Fields, fields, list, number, text } from "../shared/json-fields.ts";

/**
 * Reads the output of `codex exec --json` (0.166 seen). Codex tells the tokens of the whole conversation, also when it is
 * resumed: what our records have of it already is taken off.
 */
export function execJsonReader(before: TokenCounts): LineReader {
  let told = 0;
  let lastWords: string | null = null;
  return jsonLines(read);

  function read(event: Fields): readonly TurnEvent[] {
    const type = text(event.type);
    switch (type) {
      case "thread.started":
        return [{ kind: "session", providerSessionId: text(event.thread_id) ?? "", model: null, version: null }];
      case "item.started":
        return started(fields(event.item));
      case "item.completed": {
        const events = completed(fields(event.item));
        for (const one of events) if (one.kind === "text") lastWords = one.text;
        return events;
      }
      case "error":
        return complained(text(event.message) ?? "");
      case "turn.completed":
        told += 1;
        return [...usage(fields(event.usage), before, told), ended(null, lastWords)];
      case "turn.failed": {
        const said = text(fields(event.error)?.message) ?? "";
        return [ended(causeOf(said), said)];
      }
      default:
        return [{ kind: "other", name: type ?? "unknown" }];
    }
  }
}

/** An item of these types is the use of a tool. */
const toolTypes = ["command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call"];

function started(item: Fields | undefined): TurnEvent[] {
  const type = text(item?.type) ?? "unknown";
  if (item === undefined || !toolTypes.includes(type)) return [{ kind: "other", name: `item.started/${type}` }];
  const { name, input } = toolOf(item, type);
  return [{ kind: "tool-start", id: text(item.id) ?? "", name, input, summary: toolSummary(input), at: null }];
}

/** What an item is as the call of a tool. */
function toolOf(item: Fields, type: string): { readonly name: string; readonly input: unknown } {
  switch (type) {
    case "command_execution":
      return { name: "shell", input: { command: text(item.command) ?? "" } };
    case "file_change": {
      const paths = list(item.changes).flatMap((change) => text(fields(change)?.path) ?? []);
      return { name: "apply_patch", input: { path: paths.join(", ") } };
    }
    case "mcp_tool_call":
      return { name: `mcp__${text(item.server) ?? ""}__${text(item.tool) ?? ""}`, input: item.arguments };
    default:
      return { name: type, input: { query: text(item.query) ?? "" } };
  }
}

function completed(item: Fields | undefined): TurnEvent[] {
  const type = text(item?.type) ?? "unknown";
  if (type === "agent_message") return [{ kind: "text", text: text(item?.text) ?? "" }];
  if (type === "reasoning") return [{ kind: "thinking", text: text(item?.text) ?? "" }];
  if (item === undefined || !toolTypes.includes(type)) return [{ kind: "other", name: `item.completed/${type}` }];
  const failed = text(item.status) === "failed" || (number(item.exit_code) ?? 0) !== 0;
  const said = failed ? { said: text(item.aggregated_output) ?? text(fields(item.error)?.message) ?? "" } : {};
  return [{ kind: "tool-end", id: text(item.id) ?? "", failed, ...said, at: null }];
}

/** A message of the type `error` tells that a call of the model is tried again. What is final comes as `turn.failed`. */
function complained(said: string): TurnEvent[] {
  const again = /^Reconnecting\.{3}\s*(\d+)?/.exec(said);
  if (again === null) return [{ kind: "other", name: "error" }];
  const attempt = Number(again[1] ?? 0);
  const retry: TurnEvent = { kind: "retry", attempt, delayMs: 0, cause: said };
  if (attempt < patienceWithKeys || causeOf(said) !== "login") return [retry];
  return [retry, { kind: "hopeless", failure: "login", text: said }];
}

/** After this many refusals of one key no further one will be different. */
const patienceWithKeys = 3;

/** Input holds what was read from the cache; we count that apart. */
function usage(told: Fields | undefined, before: TokenCounts, nth: number): TurnEvent[] {
  if (told === undefined) return [];
  const cacheRead = number(told.cached_input_tokens) ?? 0;
  const cacheWrite = number(told.cache_write_input_tokens) ?? 0;
  const more = (sum: number, known: number): number => Math.max(0, sum - known);
  return [
    {
      kind: "usage",
      messageId: `turn:${nth}`,
      model: null,
      input: more((number(told.input_tokens) ?? 0) - cacheRead - cacheWrite, before.input),
      output: more(number(told.output_tokens) ?? 0, before.output),
      cacheRead: more(cacheRead, before.cacheRead),
      cacheWrite: more(cacheWrite, before.cacheWrite),
    },
  ];
}
