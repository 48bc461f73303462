import { expect, test } from "bun:test";
import { execJsonReader } from "./exec-json.ts";

const say = (read: ReturnType<typeof execJsonReader>, event: object) => read(JSON.stringify(event)).events;
const exit = (code: number) => ({ type: "overstory.exit", code });
const answer = (more: object) => ({
  type: "message_end",
  message: {
    role: "assistant",
    model: "m",
    content: [{ type: "text", text: "Hello" }],
    usage: { input: 70, output: 20, cacheRead: 30, cacheWrite: 5, cost: { total: 0.25 } },
    stopReason: "stop",
    ...more,
  },
});

test("each answer counts once, and the turn costs what they cost together", () => {
  const read = execJsonReader();
  const counts = { kind: "usage", model: "m", input: 70, output: 20, cacheRead: 30, cacheWrite: 5 };
  expect(say(read, answer({}))).toMatchObject([
    { kind: "text", text: "Hello" },
    { ...counts, messageId: "answer:1" },
    { kind: "cost", usd: 0.25 },
  ]);
  expect(say(read, answer({ content: [] }))).toMatchObject([
    { ...counts, messageId: "answer:2" },
    { kind: "cost", usd: 0.5 },
  ]);
  expect(say(read, { type: "agent_end" })).toMatchObject([{ kind: "other" }]);
  expect(say(read, exit(0))).toMatchObject([{ kind: "turn-ended", failure: null, text: "Hello", costUsd: 0.5 }]);
});

test("a failure that Pi exits with 0 after is one, and so is an exit code after an answer", () => {
  const failing = execJsonReader();
  say(failing, answer({ content: [], stopReason: "error", errorMessage: "429 rate limit" }));
  expect(say(failing, exit(0))).toMatchObject([{ kind: "turn-ended", failure: "rate_limit" }]);
  const killed = execJsonReader();
  say(killed, answer({ stopReason: "toolUse" }));
  expect(say(killed, exit(143))).toMatchObject([{ kind: "turn-ended", failure: "unknown" }]);
});

test("a program that left before it began says nothing on its output", () => {
  expect(say(execJsonReader(), exit(1))).toEqual([]);
});

test("a limit that Pi would sleep through ends the turn until the time that the provider named", () => {
  const line = {
    type: "overstory.retry",
    attempt: 1,
    message: "429 from the provider",
    next: 1_000_000,
    waitMs: 900_000,
  };
  expect(execJsonReader()(JSON.stringify(line)).events).toMatchObject([
    { kind: "retry", delayMs: 900_000 },
    { kind: "turn-ended", failure: "rate_limit", resetAt: 1_000_000 },
    { kind: "hopeless", failure: "rate_limit" },
  ]);
});
