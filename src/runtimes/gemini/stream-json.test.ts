import { expect, test } from "bun:test";
import { streamJsonReader } from "./stream-json.ts";

test("words that come in pieces are one text, and the thoughts of a model count as output", () => {
  const read = streamJsonReader();
  const events = [
    { type: "message", role: "assistant", content: "Hel", delta: true },
    { type: "message", role: "assistant", content: "lo", delta: true },
    {
      type: "result",
      status: "success",
      stats: { models: { m: { total_tokens: 150, input_tokens: 100, output_tokens: 20, cached: 40, input: 60 } } },
    },
  ].flatMap((event) => read(JSON.stringify(event)).events);
  expect(events).toMatchObject([
    { kind: "text", text: "Hello" },
    { kind: "usage", model: "m", input: 60, output: 50, cacheRead: 40 },
    { kind: "turn-ended", failure: null, text: "Hello" },
  ]);
});

test("a quota is a limit that lifts, at the time that its words tell", () => {
  const message = "[API Error: 429 You exceeded your current quota. Suggested retry after 900s.]";
  const timestamp = "2026-11-15T03:11:14.000Z";
  const line = JSON.stringify({ type: "result", timestamp, status: "error", error: { message } });
  expect(streamJsonReader()(line).events).toMatchObject([
    { kind: "turn-ended", failure: "rate_limit", resetAt: Date.parse(timestamp) + 900_000 },
  ]);
});

test("a command that failed is a failed call, where Gemini tells its exit code", () => {
  const ended = (output: string) =>
    streamJsonReader()(JSON.stringify({ type: "tool_result", tool_id: "a", status: "success", output })).events;
  expect(ended("Command exited with code: 4")).toMatchObject([
    { kind: "tool-end", failed: true, said: "Command exited with code: 4" },
  ]);
  expect(ended("hello")).toMatchObject([{ kind: "tool-end", failed: false }]);
});
