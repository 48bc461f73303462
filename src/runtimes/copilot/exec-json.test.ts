import { expect, test } from "bun:test";
import { noTokens } from "../../domain/budget/usage.ts";
import { execJsonReader, usageLine } from "./exec-json.ts";

const usageOf = (usage: object, before = noTokens) =>
  execJsonReader(before)(
    JSON.stringify({ type: usageLine, data: { modelMetrics: { "claude-sonnet-4.5": { usage } } } }),
  ).events.flatMap((event) => (event.kind === "usage" ? [event] : []));

test("tokens of earlier turns of the conversation are not counted again, and the cache is counted apart", () => {
  const [first] = usageOf({ inputTokens: 300, outputTokens: 84, cacheReadTokens: 60, cacheWriteTokens: 40 });
  expect(first).toMatchObject({ model: "claude-sonnet-4.5", input: 200, output: 84, cacheRead: 60, cacheWrite: 40 });
  const later = { inputTokens: 450, outputTokens: 126, cacheReadTokens: 90, cacheWriteTokens: 60 };
  expect(usageOf(later, first)).toMatchObject([{ input: 100, output: 42, cacheRead: 30, cacheWrite: 20 }]);
});

test("a turn that failed tells the words of the error before its end", () => {
  const read = execJsonReader(noTokens);
  read(JSON.stringify({ type: "session.error", data: { errorType: "rate_limit", statusCode: 429, message: "wait" } }));
  const { events } = read(JSON.stringify({ type: "result", sessionId: "s-1", exitCode: 1 }));
  expect(events).toMatchObject([
    { kind: "session", providerSessionId: "s-1" },
    { kind: "turn-ended", failure: "rate_limit", text: "rate_limit 429 wait" },
  ]);
});
