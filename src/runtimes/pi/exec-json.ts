import { toolSummary } from "../../domain/event/tool-call.ts";
import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import type { LineReader } from "../../ports/runtime.ts";
import { causeOf, costSoFar, ended, jsonLines } from "../shared/exec-json.ts";
import { exitCodeIn } from "../shared/exit-line.ts";
import { type Fields, fields, list, number, text } from "../shared/json-fields.ts";
import { retryIn, retryLine } from "../shared/retry-line.ts";

/**
 * Reads the output of `pi --mode json` (0.73 seen), with the line of its exit behind it. `agent_end` is no end: Pi may try
 * again afterwards. It exits with 0 after a failure too; only the last answer of the model says so.
 */
export function execJsonReader(): LineReader {
  let answers = 0;
  let costUsd = 0;
  let last: Fields | undefined;
  let lastWords: string | null = null;
  return jsonLines((event) => {
    const code = exitCodeIn(event);
    if (code !== undefined) return exited(code);
    const type = text(event.type) ?? "unknown";
    switch (type) {
      case "session":
        return [{ kind: "session", providerSessionId: text(event.id) ?? "", model: null, version: null }];
      case "message_end": {
        const message = fields(event.message);
        return message?.role === "assistant" ? answered(message) : [];
      }
      case "tool_execution_start": {
        const input = event.args;
        const [id, name] = [text(event.toolCallId) ?? "", text(event.toolName) ?? ""];
        return [{ kind: "tool-start", id, name, input, summary: toolSummary(input), at: null }];
      }
      case "tool_execution_end": {
        const failed = event.isError === true;
        const said = failed ? { said: wordsIn(fields(event.result)) } : {};
        return [{ kind: "tool-end", id: text(event.toolCallId) ?? "", failed, ...said, at: null }];
      }
      case retryLine:
        return retryIn(event);
      case "auto_retry_start": {
        const [attempt, delayMs] = [number(event.attempt) ?? 0, number(event.delayMs) ?? 0];
        return [{ kind: "retry", attempt, delayMs, cause: text(event.errorMessage) ?? "" }];
      }
      default:
        return [{ kind: "other", name: type }];
    }
  });

  function answered(message: Fields): TurnEvent[] {
    last = message;
    answers += 1;
    const said = wordsIn(message);
    if (said !== "") lastWords = said;
    const usage = fields(message.usage) ?? {};
    costUsd += number(fields(usage.cost)?.total) ?? 0;
    const count = (name: string): number => number(usage[name]) ?? 0;
    const [input, output] = [count("input"), count("output")];
    const [cacheRead, cacheWrite] = [count("cacheRead"), count("cacheWrite")];
    const model = text(message.model) ?? null;
    const spent: TurnEvent[] =
      input + output + cacheRead + cacheWrite === 0
        ? []
        : [
            { kind: "usage", messageId: `answer:${answers}`, model, input, output, cacheRead, cacheWrite },
            ...costSoFar(costUsd),
          ];
    return said === "" ? spent : [{ kind: "text", text: said }, ...spent];
  }

  function exited(code: number): TurnEvent[] {
    // It left before it began: what it wrote to its error output says why.
    if (last === undefined) return [];
    const cost = { costUsd: costUsd === 0 ? null : costUsd };
    const said = text(last.errorMessage) ?? "";
    if (last.stopReason === "error") return [ended(causeOf(said), said, cost)];
    if (code === 0 && last.stopReason !== "aborted") return [ended(null, lastWords, cost)];
    return [ended("unknown", said === "" ? `it exited with ${code}` : said, cost)];
  }
}

const wordsIn = (holder: Fields | undefined): string =>
  list(holder?.content)
    .map((block) => text(fields(block)?.text) ?? "")
    .join("");
