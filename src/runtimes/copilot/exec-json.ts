import { noTokens, type TokenCounts } from "../../domain/budget/usage.ts";
import { toolSummary } from "../../domain/event/tool-call.ts";
import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import type { LineReader } from "../../ports/runtime.ts";
import { causeOf, ended, jsonLines } from "../shared/exec-json.ts";
import { type Fields, fields, number, text } from "../shared/json-fields.ts";

/** The type of the last line, which our launch adds: what Copilot wrote to its file of usage. */
export const usageLine = "overstory.usage";

/**
 * Reads the output of `copilot --output-format json` (1.0.102 seen). Its session has a name only in the last line of its
 * own. Its tokens are those of the whole conversation: what our records have of it already is taken off.
 */
export function execJsonReader(before: TokenCounts): LineReader {
  let lastWords: string | null = null;
  let problem: string | null = null;
  let retries = 0;
  return jsonLines((event) => {
    const type = text(event.type) ?? "unknown";
    const data = fields(event.data) ?? {};
    switch (type) {
      case "assistant.message": {
        const said = text(data.content) ?? "";
        if (said === "") return [];
        lastWords = said;
        return [{ kind: "text", text: said }];
      }
      case "tool.execution_start": {
        const input = data.arguments;
        const [id, name] = [text(data.toolCallId) ?? "", text(data.toolName) ?? ""];
        return [{ kind: "tool-start", id, name, input, summary: toolSummary(input), at: timeOf(event) }];
      }
      case "tool.execution_complete": {
        const exitCode = number(fields(data.shellExecution)?.exitCode) ?? 0;
        const failed = data.success !== true || exitCode !== 0;
        const answer = text(fields(data.error)?.message) ?? text(fields(data.result)?.content) ?? "";
        const said = failed ? { said: answer } : {};
        return [{ kind: "tool-end", id: text(data.toolCallId) ?? "", failed, ...said, at: timeOf(event) }];
      }
      case "assistant.turn_retry":
        retries += 1;
        return [{ kind: "retry", attempt: retries, delayMs: 0, cause: text(data.reason) ?? "" }];
      case "session.error":
        problem = [text(data.errorType), number(data.statusCode), text(data.message)].filter(Boolean).join(" ");
        return [{ kind: "other", name: type }];
      case "result": {
        const providerSessionId = text(event.sessionId) ?? "";
        const isOver = event.exitCode === 0;
        const end = isOver ? ended(null, lastWords) : ended(causeOf(problem ?? ""), problem);
        return [{ kind: "session", providerSessionId, model: null, version: null }, end];
      }
      case usageLine:
        return usage(fields(data.modelMetrics) ?? {}, before);
      default:
        return [{ kind: "other", name: type }];
    }
  });
}

function timeOf({ timestamp }: Fields): number | null {
  const at = Date.parse(text(timestamp) ?? "");
  return Number.isNaN(at) ? null : at;
}

/** Input holds what was read from a cache and written to one; we count that apart. */
function usage(models: Fields, before: TokenCounts): TurnEvent[] {
  const names = Object.keys(models);
  const sum = Object.values(models).reduce<TokenCounts>((all, model) => {
    const told = fields(fields(model)?.usage);
    const cacheRead = number(told?.cacheReadTokens) ?? 0;
    const cacheWrite = number(told?.cacheWriteTokens) ?? 0;
    return {
      input: all.input + (number(told?.inputTokens) ?? 0) - cacheRead - cacheWrite,
      output: all.output + (number(told?.outputTokens) ?? 0),
      cacheRead: all.cacheRead + cacheRead,
      cacheWrite: all.cacheWrite + cacheWrite,
    };
  }, noTokens);
  const more = (kind: keyof TokenCounts): number => Math.max(0, sum[kind] - before[kind]);
  const counts = {
    input: more("input"),
    output: more("output"),
    cacheRead: more("cacheRead"),
    cacheWrite: more("cacheWrite"),
  };
  if (Object.values(counts).every((count) => count === 0)) return [];
  const [model = null] = names.length === 1 ? names : [];
  return [{ kind: "usage", messageId: "turn", model, ...counts }];
}
