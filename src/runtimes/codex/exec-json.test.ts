import { expect, test } from "bun:test";
import { noTokens } from "../../domain/budget/usage.ts";
import type { FailureCause } from "../../domain/turn/failure.ts";
import { execJsonReader } from "./exec-json.ts";

const done = (usage: object): string => JSON.stringify({ type: "turn.completed", usage });
const usageOf = (line: string, before = noTokens) =>
  execJsonReader(before)(line).events.flatMap((event) => (event.kind === "usage" ? [event] : []));

test("tokens of earlier turns of the conversation are not counted again, and the cache is counted apart", () => {
  const counted = { input_tokens: 200, cached_input_tokens: 60, cache_write_input_tokens: 0, output_tokens: 84 };
  const [first] = usageOf(done(counted));
  expect(first).toMatchObject({ input: 140, output: 84, cacheRead: 60, cacheWrite: 0 });
  const later = { input_tokens: 300, cached_input_tokens: 90, cache_write_input_tokens: 0, output_tokens: 126 };
  expect(usageOf(done(later), first)).toMatchObject([{ input: 70, output: 42, cacheRead: 30, cacheWrite: 0 }]);
});

test("the uses of tools are told with what they are used on, and how they ended", () => {
  const read = execJsonReader(noTokens);
  const item = (type: string, more: object) => read(JSON.stringify({ type, item: { id: "item_1", ...more } })).events;
  const command = { type: "command_execution", command: "/bin/bash -lc 'exit 3'" };
  expect(item("item.started", command)).toMatchObject([{ kind: "tool-start", summary: "/bin/bash -lc 'exit 3'" }]);
  expect(item("item.completed", { ...command, aggregated_output: "oops\n", exit_code: 3, status: "failed" })).toEqual([
    { kind: "tool-end", id: "item_1", failed: true, said: "oops\n", at: null },
  ]);
  const change = { type: "file_change", changes: [{ path: "a.ts", kind: "add" }], status: "completed" };
  expect(item("item.started", change)).toMatchObject([{ kind: "tool-start", name: "apply_patch", summary: "a.ts" }]);
  expect(item("item.completed", change)).toMatchObject([{ kind: "tool-end", failed: false }]);
});

const causes: readonly (readonly [string, FailureCause])[] = [
  ["exceeded retry limit, last status: 429 Too Many Requests", "rate_limit"],
  ["You've hit your usage limit. Try again in 3 hours.", "rate_limit"],
  ["unexpected status 401 Unauthorized: bad key", "login"],
  ["Quota exceeded. Check your plan and billing details.", "credit"],
  ["unexpected status 404 Not Found: The model `x` does not exist", "model"],
  ["We’re currently experiencing high demand, which may cause temporary errors.", "server_error"],
  ["stream disconnected before completion: error sending request", "network"],
  ["Codex ran out of room in the model's context window.", "context_full"],
  ["something else", "unknown"],
];

for (const [said, cause] of causes) {
  test(`a turn that failed with "${said}" failed by ${cause}`, () => {
    const { events } = execJsonReader(noTokens)(JSON.stringify({ type: "turn.failed", error: { message: said } }));
    expect(events).toMatchObject([{ kind: "turn-ended", failure: cause, text: said }]);
  });
}

test("a key that is refused again and again is given up before Codex does", () => {
  const read = execJsonReader(noTokens);
  const again = (attempt: number) =>
    read(
      JSON.stringify({ type: "error", message: `Reconnecting... ${attempt}/5 (unexpected status 401 Unauthorized)` }),
    ).events;
  expect(again(1)).toMatchObject([{ kind: "retry", attempt: 1 }]);
  expect(again(3)).toMatchObject([{ kind: "retry" }, { kind: "hopeless", failure: "login" }]);
});
