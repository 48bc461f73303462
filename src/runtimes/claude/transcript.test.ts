import { expect, test } from "bun:test";
import { readTranscript, transcriptsOf } from "./transcript.ts";

const line = (id: string, output: number, more: object = {}): string =>
  JSON.stringify({
    type: "assistant",
    sessionId: "s-1",
    timestamp: "2026-11-18T02:00:00.000Z",
    message: {
      id,
      model: "claude-opus-4-5",
      usage: { input_tokens: 3, output_tokens: output, cache_read_input_tokens: 5, cache_creation_input_tokens: 7 },
    },
    ...more,
  });

test("an answer that is written in several lines counts once, with its last numbers", () => {
  const text = [line("m1", 1), line("m1", 10), line("m2", 20, { timestamp: "2026-11-18T02:01:00.000Z" })].join("\n");
  expect(readTranscript("/x/s-1.jsonl", text)).toEqual({
    path: "/x/s-1.jsonl",
    sessionId: "s-1",
    runtime: "claude",
    answers: [
      { messageId: "m1", model: "claude-opus-4-5", input: 3, output: 10, cacheRead: 5, cacheWrite: 7 },
      { messageId: "m2", model: "claude-opus-4-5", input: 3, output: 20, cacheRead: 5, cacheWrite: 7 },
    ],
    startedAt: Date.UTC(2026, 10, 18, 2),
    endedAt: Date.UTC(2026, 10, 18, 2, 1),
  });
});

test("lines that are cut short, or no answers of a model, are passed over", () => {
  const synthetic = { message: { id: "m3", model: "<synthetic>", usage: {} } };
  const text = [line("m1", 1).slice(0, 90), '{"type":"user","usage":1}', line("m3", 1, synthetic), ""].join("\n");
  expect(readTranscript("/x/s-1.jsonl", text)).toBeUndefined();
});

test("conversations lie in a directory named after where they were held", () => {
  expect(transcriptsOf("/home/me/my.project")).toBe("projects/-home-me-my-project");
});
