import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import { streamJsonReader } from "./stream-json.ts";

const fixtures = resolve(import.meta.dir, "../../../test/fixtures/claude");

/** Only the events; what is answered has tests of its own. */
function eventReader(): (line: string) => readonly TurnEvent[] {
  const read = streamJsonReader();
  return (line) => read(line).events;
}

function replay(name: string): TurnEvent[] {
  const read = eventReader();
  // Recorded in a mode that turns are no longer started in.
  return readFileSync(join(fixtures, `${name}.ndjson`), "utf8")
    .replaceAll('"permissionMode":"bypassPermissions"', '"permissionMode":"default"')
    .split("\n")
    .flatMap(read);
}
const kinds = (events: readonly TurnEvent[]): string[] => events.map((event) => event.kind);
const last = (events: readonly TurnEvent[]): TurnEvent | undefined => events.at(-1);

describe("recorded streams of the real CLI", () => {
  test("a turn with one shell call, in both versions", () => {
    for (const name of ["basic", "basic-2.1.197"]) {
      const events = replay(name);
      expect(kinds(events).filter((kind) => kind !== "other")).toEqual(
        expect.arrayContaining(["session", "text", "tool-start", "usage", "tool-end", "turn-ended"]),
      );
      expect(events.filter((event) => event.kind === "session")).toHaveLength(1);
      expect(last(events)).toMatchObject({ kind: "turn-ended", failure: null });
    }
  });

  test("a call names its tool, its id and what it is used on; versions that stamp their lines say when", () => {
    const callsOf = (name: string) =>
      replay(name).filter((event) => event.kind === "tool-start" || event.kind === "tool-end");
    const command = "echo hello > greeting.txt && cat greeting.txt";
    const asked = { kind: "tool-start", name: "Bash", summary: command, input: { command } };
    const [began, ended] = callsOf("basic");
    expect(began).toMatchObject({ ...asked, id: "toolu_fake313_0" });
    expect(ended).toMatchObject({ kind: "tool-end", id: "toolu_fake313_0", failed: false });
    expect((ended?.at ?? 0) - (began?.at ?? 0)).toBe(206);
    const [older] = callsOf("basic-2.1.197");
    expect(older).toMatchObject({ ...asked, id: "toolu_fake341_0", at: null });
  });

  test("a thought is told with its text", () => {
    const thoughts = replay("partial").filter(({ kind }) => kind === "thinking");
    expect(thoughts).toEqual([{ kind: "thinking", text: "A short thought." }]);
    const empty = { type: "assistant", message: { content: [{ type: "thinking" }] } };
    expect(eventReader()(JSON.stringify(empty))).toEqual([{ kind: "thinking", text: "" }]);
  });

  test("a tool that failed says why, in one text or in blocks", () => {
    const end = (content: unknown) => {
      const block = { type: "tool_result", tool_use_id: "t1", is_error: true, content };
      return eventReader()(JSON.stringify({ type: "user", message: { role: "user", content: [block] } }));
    };
    const failed = { kind: "tool-end", id: "t1", failed: true, at: null } as const;
    expect(end("Exit code 2")).toContainEqual({ ...failed, said: "Exit code 2" });
    expect(end([{ type: "text", text: "a" }, { type: "image" }, { type: "text", text: "b" }])).toContainEqual({
      ...failed,
      said: "a\nb",
    });
  });

  test("usage is counted once per message however many blocks repeat it", () => {
    const usages = replay("basic").filter((event) => event.kind === "usage");
    expect(new Set(usages.map((usage) => usage.messageId)).size).toBe(usages.length);
    expect(usages[0]).toMatchObject({ input: 100, cacheRead: 30, cacheWrite: 20 });
  });

  test("the tokens of a turn add up to what its end says, in both versions and after a resume", () => {
    for (const [name, requests] of [
      ["basic", 2],
      ["basic-2.1.197", 2],
      ["partial", 2],
      ["resume", 1],
    ] as const) {
      const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      for (const event of replay(name)) {
        if (event.kind !== "usage") continue;
        for (const unit of ["input", "output", "cacheRead", "cacheWrite"] as const) sum[unit] += event[unit];
        expect(event.model).toStartWith("claude-opus-");
      }
      const each = { input: 100, output: 42, cacheRead: 30, cacheWrite: 20 };
      for (const unit of ["input", "output", "cacheRead", "cacheWrite"] as const) {
        expect([name, unit, sum[unit]]).toEqual([name, unit, each[unit] * requests]);
      }
    }
  });

  test("a resumed turn costs its own share, though its total goes on counting", () => {
    expect(last(replay("basic"))).toMatchObject({ costUsd: 0.002692 });
    expect(last(replay("resume"))).toMatchObject({ costUsd: 0.001346 });
    expect(last(replay("basic-2.1.197"))).toMatchObject({ costUsd: 0.00338 });
    const spentBefore = { type: "result", is_error: true, total_cost_usd: 5, model_usage_since_last_result: {} };
    expect(eventReader()(JSON.stringify(spentBefore)).at(-1)).toMatchObject({ costUsd: 0 });
  });

  test("a turn that said twice that it was over costs both, and counts its tokens once", () => {
    const events = replay("two-results");
    const costs = events.flatMap((event) => (event.kind === "turn-ended" ? [event.costUsd ?? 0] : []));
    expect(costs).toHaveLength(2);
    expect(costs.reduce((sum, cost) => sum + cost)).toBeCloseTo(0.0024, 10);
    const tokens = events.flatMap((event) => (event.kind === "usage" ? [event.input + event.output] : []));
    expect(tokens.reduce((sum, count) => sum + count)).toBe(3 * 120);
  });

  test("a conversation that was made shorter is told once, with its tokens before and after", () => {
    const told = replay("compact").filter(({ kind }) => kind === "compacted" || kind === "model-changed");
    expect(told).toEqual([{ kind: "compacted", asked: true, tokensBefore: 192, tokensAfter: 2518 }]);
    const bare = { type: "system", subtype: "compact_boundary", session_id: "s" };
    expect(eventReader()(JSON.stringify(bare))).toEqual([
      { kind: "compacted", asked: false, tokensBefore: null, tokensAfter: null },
    ]);
  });

  test("no recorded turn of one model tells of another one", () => {
    for (const name of ["basic", "basic-2.1.197", "partial", "resume", "two-results", "api-retry-then-ok"])
      expect(kinds(replay(name))).not.toContain("model-changed");
  });

  test("a rate limit ends the turn as one", () => {
    expect(last(replay("api-error-429"))).toMatchObject({ kind: "turn-ended", failure: "rate_limit" });
  });

  test("a server error ends the turn as failed, after its retries were seen", () => {
    const events = replay("api-error-500");
    expect(kinds(events)).toContain("retry");
    expect(last(events)).toMatchObject({ kind: "turn-ended", failure: "server_error" });
  });

  test("retries that succeed in the end are no failure", () => {
    expect(last(replay("api-retry-then-ok"))).toMatchObject({ kind: "turn-ended", failure: null });
  });

  test("a killed CLI leaves no word that the turn is over", () => {
    expect(kinds(replay("sigterm"))).not.toContain("turn-ended");
  });

  test("resuming an unknown conversation is a failed turn with the reason", () => {
    const ended = last(replay("resume-unknown"));
    expect(ended).toMatchObject({ kind: "turn-ended", failure: "session_lost" });
  });
});

describe("lines that are not what was promised", () => {
  test("are reported and skipped", () => {
    const read = eventReader();
    expect(read("not json")).toEqual([{ kind: "malformed", bytes: 8, text: "not json" }]);
    expect(read("[1,2]")).toEqual([{ kind: "malformed", bytes: 5, text: "[1,2]" }]);
    expect(read("")).toEqual([]);
    expect(read('{"type":"from_the_future"}')).toEqual([{ kind: "other", name: "from_the_future" }]);
    expect(read('{"type":"assistant"}')).toEqual([]);
  });

  test("a limit's reset is read from seconds or milliseconds", () => {
    for (const stated of [1_800_000_000, 1_800_000_000_000]) {
      const read = eventReader();
      read(JSON.stringify({ type: "rate_limit_event", rate_limit_info: { resetsAt: stated } }));
      const [ended] = read('{"type":"result","is_error":true,"api_error_status":429}');
      expect(ended).toMatchObject({ failure: "rate_limit", resetAt: 1_800_000_000_000 });
    }
  });

  test("a stated reset outlives the message of the model that repeats the limit without it", () => {
    const read = eventReader();
    read('{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1800000000.25}}');
    read('{"type":"assistant","error":"rate_limit","message":{"content":[]}}');
    const [ended] = read('{"type":"result","is_error":true,"api_error_status":429}');
    expect(ended).toMatchObject({ failure: "rate_limit", resetAt: 1_800_000_000_250 });
  });

  test("news of a limit that still allows everything does not make a failure a rate limit", () => {
    const read = eventReader();
    read('{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1800000000}}');
    const [ended] = read('{"type":"result","is_error":true,"api_error_status":500}');
    expect(ended).toMatchObject({ failure: "server_error", resetAt: null });
  });
});

describe("why a turn failed, as the real CLI 2.1.325 said it against a model that answers so", () => {
  const result = (more: object) => ({
    type: "result",
    is_error: true,
    subtype: "success",
    terminal_reason: "api_error",
    ...more,
  });
  const synthetic = (error: string) => ({ type: "assistant", error, message: { model: "<synthetic>", content: [] } });
  test.each([
    ["login", synthetic("authentication_failed"), { api_error_status: 401, result: "Invalid API key" }],
    ["login", synthetic("authentication_failed"), { api_error_status: null, result: "Not logged in" }],
    ["login", synthetic("authentication_failed"), { api_error_status: 403, result: "Failed to authenticate." }],
    ["credit", synthetic("billing_error"), { api_error_status: 400, result: "Credit balance is too low" }],
    ["model", synthetic("model_not_found"), { api_error_status: 404, result: "There's an issue with the model" }],
    ["overloaded", synthetic("server_error"), { api_error_status: 529, result: "API Error: 529 Overloaded." }],
    ["server_error", synthetic("server_error"), { api_error_status: 500, result: "API Error: 500" }],
    ["network", synthetic("unknown"), { api_error: "connection_failed", result: "API Error: Connection refused" }],
    ["context_full", synthetic("invalid_request"), { terminal_reason: "prompt_too_long", api_error_status: 400 }],
    ["rejected", synthetic("unknown"), { api_error_status: 400, result: "API Error: 400 something else" }],
    ["refusal", { type: "system", subtype: "model_refusal_no_fallback" }, { stop_reason: "refusal" }],
    ["budget", {}, { subtype: "error_max_budget_usd", terminal_reason: "budget_exhausted" }],
    ["session_lost", {}, { subtype: "error_during_execution", errors: ["No conversation found with session ID: x"] }],
    ["unknown", synthetic("max_output_tokens"), { api_error: "max_output_tokens", result: "API Error: too long" }],
    ["unknown", {}, { subtype: "error_during_execution", terminal_reason: "aborted_tools" }],
  ])("%s", (failure, before, said) => {
    const read = eventReader();
    read(JSON.stringify(before));
    expect(read(JSON.stringify(result(said))).at(-1)).toMatchObject({ kind: "turn-ended", failure });
  });

  test.each([
    ["mode", { permissionMode: "plan" }],
    ["tools", { permissionMode: "default", mcp_servers: [{ name: "overstory", status: "failed" }] }],
  ])("another %s than was asked for makes the turn hopeless at its first line, and no success of it", (failure, is) => {
    const read = eventReader();
    const init = { type: "system", subtype: "init", session_id: "s", ...is };
    expect(read(JSON.stringify(init)).at(-1)).toMatchObject({ kind: "hopeless", failure });
    const done = { type: "result", is_error: false, subtype: "success", terminal_reason: "completed" };
    expect(read(JSON.stringify(done)).at(-1)).toMatchObject({ kind: "turn-ended", failure });
  });

  test("a tool server that is still starting, or belongs to the company, keeps no turn from working", () => {
    const servers = [
      { name: "overstory", status: "pending" },
      { name: "managed", status: "failed" },
    ];
    const init = { type: "system", subtype: "init", session_id: "s", permissionMode: "default", mcp_servers: servers };
    expect(kinds(eventReader()(JSON.stringify(init)))).toEqual(["session"]);
  });

  test("a key that is refused three times is hopeless, an overloaded model is not", () => {
    const read = eventReader();
    const retry = (attempt: number, error_status: number) =>
      read(JSON.stringify({ type: "system", subtype: "api_retry", attempt, error_status, error: "e" })).map(
        ({ kind }) => kind,
      );
    expect([1, 2].map((attempt) => retry(attempt, 401))).toEqual([["retry"], ["retry"]]);
    expect(retry(9, 529)).toEqual(["retry"]);
    expect(retry(3, 401)).toEqual(["retry", "hopeless"]);
  });

  test("several results of one turn cost what they add up to, in both forms of the account", () => {
    const costs = (...results: object[]) => {
      const read = eventReader();
      return results.map((more) => read(JSON.stringify({ type: "result", is_error: false, ...more })).at(-1));
    };
    const share = (costUSD: number) => ({ model_usage_since_last_result: { m: { costUSD } } });
    expect(costs({ ...share(0.5), total_cost_usd: 7 }, { ...share(0.25), total_cost_usd: 8 })).toMatchObject([
      { costUsd: 0.5 },
      { costUsd: 0.25 },
    ]);
    expect(costs({ total_cost_usd: 0.5 }, { total_cost_usd: 0.75 })).toMatchObject([
      { costUsd: 0.5 },
      { costUsd: 0.25 },
    ]);
  });
});

test("a message of the user that is repeated was put before the model, and is no answer of a tool", () => {
  const line = JSON.stringify({
    type: "user",
    message: { role: "user", content: [{ type: "text", text: "Use UTC" }] },
    uuid: "msg-1",
    isReplay: true,
  });
  expect(streamJsonReader()(line).events).toEqual([{ kind: "heard", id: "msg-1" }]);
});

describe("another model answers than before", () => {
  const init = (model: string) => ({ type: "system", subtype: "init", session_id: "s", model });
  const answer = (model: string, more: object = {}) => ({
    type: "assistant",
    message: { id: model, model, content: [] },
    ...more,
  });
  const changes = (...lines: readonly object[]) => {
    const read = eventReader();
    return lines
      .flatMap((line) => read(JSON.stringify(line)))
      .flatMap((event) => (event.kind === "model-changed" ? [[event.from, event.to, event.why]] : []));
  };

  test("it is told when it begins and when it ends, once each", () => {
    const [opus, sonnet] = ["claude-opus-5-5", "claude-sonnet-5-5"];
    expect(changes(init(opus), answer(sonnet), answer(sonnet), init(opus), answer(opus), answer(opus))).toEqual([
      [opus, sonnet, null],
      [sonnet, opus, null],
    ]);
  });

  test("the program's own word gives the reason, before or after the first answer", () => {
    const [opus, sonnet] = ["claude-opus-5-5", "claude-sonnet-5-5"];
    const fallback = {
      type: "system",
      subtype: "model_refusal_fallback",
      direction: "retry",
      original_model: opus,
      fallback_model: sonnet,
    };
    const why = "the first one refused to answer";
    expect(changes(init(opus), fallback, answer(sonnet))).toEqual([[opus, sonnet, why]]);
    expect(changes(init(opus), answer(sonnet), fallback)).toEqual([[opus, sonnet, null]]);
    expect(changes(init(opus), answer(opus), { ...fallback, scope: "local" }, answer(opus))).toEqual([]);
  });

  test("other names of one model, helpers, and words of the program are no change", () => {
    expect(changes(init("claude-opus-5-5[1m]"), answer("claude-opus-5-5-20261001"))).toEqual([]);
    expect(changes(init("us.anthropic.claude-opus-5-5-20261001-v1:0"), answer("claude-opus-5-5"))).toEqual([]);
    expect(changes(init("opus"), answer("claude-opus-5-5"))).toEqual([]);
    expect(changes(init("claude-opus-5-5"), answer("local/model"), answer("local/model"))).toEqual([]);
    const helper = answer("claude-haiku-5-5", { parent_tool_use_id: "t1" });
    expect(changes(init("claude-opus-5-5"), helper, answer("<synthetic>"), answer("claude-opus-5-5"))).toEqual([]);
  });
});
