import { expect, test } from "bun:test";
import { execJsonReader } from "./exec-json.ts";

const say = (read: ReturnType<typeof execJsonReader>, event: object) =>
  read(JSON.stringify({ sessionID: "ses_1", ...event })).events;
const exit = (code: number) => ({ type: "overstory.exit", code });
const step = (reason: string) => ({
  type: "step_finish",
  part: {
    id: `prt_${reason}`,
    reason,
    cost: 0.25,
    tokens: { input: 70, output: 20, reasoning: 3, cache: { read: 30 } },
  },
});

test("the steps of a turn are added up, and the end of the process is the end of the turn", () => {
  const read = execJsonReader();
  expect(say(read, step("tool-calls"))).toMatchObject([
    { kind: "session", providerSessionId: "ses_1" },
    { kind: "usage", messageId: "prt_tool-calls", input: 70, output: 23, cacheRead: 30, cacheWrite: 0 },
    { kind: "cost", usd: 0.25 },
  ]);
  expect(say(read, { type: "text", part: { text: "Hello" } })).toEqual([{ kind: "text", text: "Hello" }]);
  say(read, step("stop"));
  expect(say(read, exit(0))).toMatchObject([{ kind: "turn-ended", failure: null, text: "Hello", costUsd: 0.5 }]);
});

test("a turn that ends in the middle of its work failed, although the exit code is 0", () => {
  const read = execJsonReader();
  say(read, step("tool-calls"));
  expect(say(read, exit(0))).toMatchObject([{ kind: "turn-ended", failure: "unknown" }]);
});

test("an error has the status of the API, and a program that left before it began says nothing", () => {
  const read = execJsonReader();
  say(read, { type: "error", error: { name: "APIError", data: { message: "slow down", statusCode: 429 } } });
  expect(say(read, exit(1))).toMatchObject([{ kind: "turn-ended", failure: "rate_limit", text: "429 slow down" }]);
  const login = execJsonReader();
  say(login, { type: "error", error: { name: "ProviderAuthError", data: { message: "no key" } } });
  expect(say(login, exit(1))).toMatchObject([{ kind: "turn-ended", failure: "login" }]);
  expect(execJsonReader()(JSON.stringify(exit(1))).events).toEqual([]);
});

test("the call of a tool is told with its times, and fails by its exit code", () => {
  const state = { status: "completed", input: { command: "false" }, output: "", metadata: { exit: 1 } };
  const part = { tool: "bash", callID: "c1", state: { ...state, time: { start: 5, end: 9 } } };
  expect(say(execJsonReader(), { type: "tool_use", part }).slice(1)).toMatchObject([
    { kind: "tool-start", id: "c1", name: "bash", summary: "false", at: 5 },
    { kind: "tool-end", id: "c1", failed: true, at: 9 },
  ]);
});

test("a call that is tried again soon is a sign of life; one that waits for a limit ends the turn until then", () => {
  const retry = (attempt: number, waitMs: number) => ({
    type: "overstory.retry",
    sessionID: "ses_1",
    ...{ attempt, waitMs, message: "as the provider says", next: 1_000_000 },
  });
  const read = execJsonReader();
  expect(say(read, retry(1, 2_000))).toMatchObject([
    { kind: "session" },
    { kind: "retry", attempt: 1, delayMs: 2_000 },
  ]);
  expect(say(read, retry(2, 900_000)).slice(1)).toMatchObject([
    { kind: "turn-ended", failure: "rate_limit", resetAt: 1_000_000 },
    { kind: "hopeless", failure: "rate_limit" },
  ]);
  expect(say(read, retry(6, 2_000)).slice(1)).toMatchObject([
    { kind: "turn-ended", failure: "server_error", resetAt: null },
    { kind: "hopeless", failure: "server_error" },
  ]);
});

test("a call that the plugin told at its start is told once, and is open until it has ended", () => {
  const read = execJsonReader();
  const call = { type: "overstory.call", callID: "c1", tool: "bash", input: { command: "make test" } };
  expect(say(read, call)).toMatchObject([
    { kind: "session" },
    { kind: "tool-start", id: "c1", name: "bash", summary: "make test" },
  ]);
  const state = { status: "completed", input: { command: "make test" }, metadata: { exit: 0 } };
  expect(say(read, { type: "tool_use", part: { callID: "c1", tool: "bash", state } })).toEqual([
    { kind: "tool-end", id: "c1", failed: false, at: null },
  ]);
});
