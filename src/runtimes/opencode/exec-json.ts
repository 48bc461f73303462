import { toolSummary } from "../../domain/event/tool-call.ts";
import type { FailureCause } from "../../domain/turn/failure.ts";
import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import type { LineReader } from "../../ports/runtime.ts";
import type { Aside } from "../shared/acp/exchange.ts";
import { causeOf, costSoFar, ended, jsonLines } from "../shared/exec-json.ts";
import { exitCodeIn } from "../shared/exit-line.ts";
import { type Fields, fields, number, text } from "../shared/json-fields.ts";
import { retryIn, retryLine } from "../shared/retry-line.ts";
import { callLine, problemLine, stepLine } from "./hooks.ts";

/**
 * Reads the output of `opencode run --format json` (1.18 seen), with the line of its exit behind it. Each answer of the model
 * has figures of its own. The call of a tool is told when it has ended; our plugin says when one begins.
 */
export function execJsonReader(): LineReader {
  let session: string | undefined;
  let problem: { readonly cause: FailureCause; readonly said: string } | undefined;
  let lastReason: string | undefined;
  const begun = new Set<string>();
  let lastWords: string | null = null;
  let costUsd = 0;
  return jsonLines((event) => {
    const code = exitCodeIn(event);
    if (code !== undefined) return exited(code);
    const id = text(event.sessionID);
    const isNew = id !== undefined && id !== session;
    session = id ?? session;
    const named: TurnEvent[] = isNew ? [{ kind: "session", providerSessionId: id, model: null, version: null }] : [];
    return [...named, ...read(event, fields(event.part) ?? {})];
  });

  function read(event: Fields, part: Fields): readonly TurnEvent[] {
    const type = text(event.type) ?? "unknown";
    switch (type) {
      case "text":
        lastWords = text(part.text) ?? "";
        return [{ kind: "text", text: lastWords }];
      case "reasoning":
        return [{ kind: "thinking", text: text(part.text) ?? "" }];
      case "tool_use":
        return called(part, fields(part.state) ?? {}, begun);
      case callLine: {
        const [id, name, input] = [text(event.callID) ?? "", text(event.tool) ?? "", event.input];
        begun.add(id);
        return [{ kind: "tool-start", id, name, input, summary: toolSummary(input), at: null }];
      }
      case "step_finish":
        lastReason = text(part.reason);
        costUsd += number(part.cost) ?? 0;
        return [...usage(text(part.id) ?? "", fields(part.tokens) ?? {}), ...costSoFar(costUsd)];
      case retryLine:
        return retryIn(event);
      case "error":
        problem = problemIn(fields(event.error) ?? {});
        return [{ kind: "other", name: type }];
      default:
        return [{ kind: "other", name: type }];
    }
  }

  function exited(code: number): TurnEvent[] {
    // It left before it began: what it wrote to its error output says why.
    if (session === undefined && problem === undefined) return [];
    const cost = { costUsd: costUsd === 0 ? null : costUsd };
    if (problem !== undefined) return [ended(problem.cause, problem.said, cost)];
    if (code === 0 && lastReason !== undefined && lastReason !== "tool-calls") return [ended(null, lastWords, cost)];
    return [ended("unknown", `it exited with ${code} before the model had answered`, cost)];
  }
}

/** Over ACP: what our plugin tells of each call of the model, of each retry and of what went wrong. */
export function toldByPlugin(line: Fields): Aside {
  const type = text(line.type) ?? "unknown";
  if (type === stepLine)
    return { events: usage(text(line.id) ?? "", fields(line.tokens) ?? {}), costUsd: number(line.cost) };
  if (type === problemLine)
    return { events: [{ kind: "other", name: type }], problem: problemIn(fields(line.error) ?? {}) };
  return { events: type === retryLine ? retryIn(line) : [{ kind: "other", name: type }] };
}

function called(part: Fields, state: Fields, begun: ReadonlySet<string>): TurnEvent[] {
  const [id, name, input] = [text(part.callID) ?? "", text(part.tool) ?? "", state.input];
  const time = fields(state.time);
  const exitCode = number(fields(state.metadata)?.exit) ?? 0;
  const failed = state.status !== "completed" || exitCode !== 0;
  const said = failed ? { said: text(state.error) ?? text(state.output) ?? "" } : {};
  const [start, end] = [number(time?.start) ?? null, number(time?.end) ?? null];
  // Times of two clocks are not compared: of a call that was told at its start, the times at which its lines came count.
  if (begun.has(id)) return [{ kind: "tool-end", id, failed, ...said, at: null }];
  return [
    { kind: "tool-start", id, name, input, summary: toolSummary(input), at: start },
    { kind: "tool-end", id, failed, ...said, at: end },
  ];
}

/** Thoughts of the model are paid for as output. */
function usage(messageId: string, tokens: Fields): TurnEvent[] {
  const cache = fields(tokens.cache);
  const counts = {
    input: number(tokens.input) ?? 0,
    output: (number(tokens.output) ?? 0) + (number(tokens.reasoning) ?? 0),
    cacheRead: number(cache?.read) ?? 0,
    cacheWrite: number(cache?.write) ?? 0,
  };
  return [{ kind: "usage", messageId, model: null, ...counts }];
}

function problemIn(error: Fields): { readonly cause: FailureCause; readonly said: string } {
  const data = fields(error.data);
  const name = text(error.name) ?? "";
  const said = [number(data?.statusCode), text(data?.message) ?? name].filter(Boolean).join(" ");
  const cause = /ProviderAuth/.test(name) ? "login" : /ModelNotFound/.test(name) ? "model" : causeOf(said);
  return { cause, said };
}
