import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import { streamJsonReader } from "./stream-json.ts";

const fixtures = resolve(import.meta.dir, "../../../test/fixtures/claude");

function replay(name: string): TurnEvent[] {
  const read = streamJsonReader();
  return readFileSync(join(fixtures, `${name}.ndjson`), "utf8")
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
      expect(last(events)).toMatchObject({ kind: "turn-ended", failed: false, cause: "completed" });
    }
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
    expect(streamJsonReader()(JSON.stringify(spentBefore)).at(-1)).toMatchObject({ costUsd: 0 });
  });

  test("a rate limit ends the turn as one", () => {
    expect(last(replay("api-error-429"))).toMatchObject({ kind: "turn-ended", failed: true, cause: "rate-limit" });
  });

  test("a server error ends the turn as failed, after its retries were seen", () => {
    const events = replay("api-error-500");
    expect(kinds(events)).toContain("retry");
    expect(last(events)).toMatchObject({ kind: "turn-ended", failed: true, cause: "api-error" });
  });

  test("retries that succeed in the end are no failure", () => {
    expect(last(replay("api-retry-then-ok"))).toMatchObject({ kind: "turn-ended", failed: false });
  });

  test("a killed CLI leaves no word that the turn is over", () => {
    expect(kinds(replay("sigterm"))).not.toContain("turn-ended");
  });

  test("resuming an unknown conversation is a failed turn with the reason", () => {
    const ended = last(replay("resume-unknown"));
    expect(ended).toMatchObject({ kind: "turn-ended", failed: true });
  });
});

describe("lines that are not what was promised", () => {
  test("are reported and skipped", () => {
    const read = streamJsonReader();
    expect(read("not json")).toEqual([{ kind: "malformed", bytes: 8 }]);
    expect(read("[1,2]")).toEqual([{ kind: "malformed", bytes: 5 }]);
    expect(read("")).toEqual([]);
    expect(read('{"type":"from_the_future"}')).toEqual([{ kind: "other", name: "from_the_future" }]);
    expect(read('{"type":"assistant"}')).toEqual([]);
  });

  test("a limit's reset is read from seconds or milliseconds", () => {
    for (const stated of [1_800_000_000, 1_800_000_000_000]) {
      const read = streamJsonReader();
      read(JSON.stringify({ type: "rate_limit_event", rate_limit_info: { resetsAt: stated } }));
      const [ended] = read('{"type":"result","is_error":true,"api_error_status":429}');
      expect(ended).toMatchObject({ cause: "rate-limit", resetAt: 1_800_000_000_000 });
    }
  });

  test("a stated reset outlives the message of the model that repeats the limit without it", () => {
    const read = streamJsonReader();
    read('{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1800000000.25}}');
    read('{"type":"assistant","error":"rate_limit","message":{"content":[]}}');
    const [ended] = read('{"type":"result","is_error":true,"api_error_status":429}');
    expect(ended).toMatchObject({ cause: "rate-limit", resetAt: 1_800_000_000_250 });
  });

  test("news of a limit that still allows everything does not make a failure a rate limit", () => {
    const read = streamJsonReader();
    read('{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1800000000}}');
    const [ended] = read('{"type":"result","is_error":true,"api_error_status":500}');
    expect(ended).toMatchObject({ cause: "api-error", resetAt: null });
  });
});
