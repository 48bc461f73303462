import { toolSummary } from "../../domain/event/tool-call.ts";
import type { FailureCause } from "../../domain/turn/failure.ts";
import type { TurnEnded, TurnEvent } from "../../domain/turn/turn-event.ts";
import type { LineReader } from "../../ports/runtime.ts";
import { causeOf, ended, jsonLines } from "../shared/exec-json.ts";
import { type Fields, fields, number, text } from "../shared/json-fields.ts";

/** Reads the output of `gemini -o stream-json` (0.61 seen). Its tokens are those of the turn, told once at its end. */
export function streamJsonReader(): LineReader {
  /** Words of the model come in small pieces; they are put together up to the next event of another type. */
  let words = "";
  let lastWords: string | null = null;
  return jsonLines((event) => {
    if (event.type === "message" && event.role === "assistant") {
      words += text(event.content) ?? "";
      return [];
    }
    const said: TurnEvent[] = words === "" ? [] : [{ kind: "text", text: words }];
    if (words !== "") lastWords = words;
    words = "";
    return [...said, ...read(event, lastWords)];
  });
}

function read(event: Fields, lastWords: string | null): readonly TurnEvent[] {
  const type = text(event.type) ?? "unknown";
  const at = timeOf(event);
  switch (type) {
    case "init":
      return [
        {
          kind: "session",
          providerSessionId: text(event.session_id) ?? "",
          model: text(event.model) ?? null,
          version: null,
        },
      ];
    case "tool_use": {
      const input = event.parameters;
      const [id, name] = [text(event.tool_id) ?? "", text(event.tool_name) ?? ""];
      return [{ kind: "tool-start", id, name, input, summary: toolSummary(input), at }];
    }
    case "tool_result": {
      const failed = event.status !== "success" || exitWords.test(text(event.output) ?? "");
      const said = failed ? { said: text(fields(event.error)?.message) ?? text(event.output) ?? "" } : {};
      return [{ kind: "tool-end", id: text(event.tool_id) ?? "", failed, ...said, at }];
    }
    case "result":
      return [...usage(fields(event.stats)), endOf(event, at, lastWords)];
    default:
      return [{ kind: "other", name: type }];
  }
}

/** A command that failed is a success to Gemini. It tells the exit code of one that printed nothing. */
const exitWords = /^Command exited with code: [1-9]\d*$/;

function timeOf({ timestamp }: Fields): number | null {
  const at = Date.parse(text(timestamp) ?? "");
  return Number.isNaN(at) ? null : at;
}

function endOf(event: Fields, at: number | null, lastWords: string | null): TurnEnded {
  if (event.status === "success") return ended(null, lastWords);
  const said = text(fields(event.error)?.message) ?? "";
  const failure = geminiCause(said);
  // A limit says when it lifts only in words.
  const seconds = /retry (?:after|in) (\d+(?:\.\d+)?) ?s/i.exec(said)?.[1];
  const resetAt = failure === "rate_limit" && at !== null && seconds !== undefined ? at + Number(seconds) * 1000 : null;
  return ended(failure, said, { resetAt });
}

/** Every limit is a quota to Google, also one that lifts in a minute. */
export const geminiCause = (said: string): FailureCause =>
  /\b429\b|RESOURCE_EXHAUSTED|quota/i.test(said)
    ? "rate_limit"
    : /API_KEY_INVALID|API key not valid/i.test(said)
      ? "login"
      : // A connection that breaks off has the status of a failure over ACP.
        /^terminated\b|fetch failed/i.test(said)
        ? "network"
        : causeOf(said);

/** `total_tokens` holds the thoughts of the model too, which `output_tokens` leaves out. They are paid for as output. */
function usage(stats: Fields | undefined): TurnEvent[] {
  return Object.entries(fields(stats?.models) ?? {}).flatMap(([model, counts]): TurnEvent[] => {
    const { total_tokens, input_tokens, output_tokens, cached } = fields(counts) ?? {};
    const [prompt, cacheRead] = [number(input_tokens) ?? 0, number(cached) ?? 0];
    const output = Math.max(number(output_tokens) ?? 0, (number(total_tokens) ?? 0) - prompt);
    const input = Math.max(0, prompt - cacheRead);
    if (input + output + cacheRead === 0) return [];
    return [{ kind: "usage", messageId: `turn:${model}`, model, input, output, cacheRead, cacheWrite: 0 }];
  });
}
