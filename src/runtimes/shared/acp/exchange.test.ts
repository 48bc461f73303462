import { expect, test } from "bun:test";
import { acpQuestion } from "../../../../testkit/contracts/runtime.ts";
import type { TurnEvent } from "../../../domain/turn/turn-event.ts";
import type { AgentAnswer, Reading } from "../../../ports/runtime.ts";
import { causeOf } from "../exec-json.ts";
import { type AcpDialect, type Aside, acpReader } from "./exchange.ts";
import { AcpCalls, acpToolUse } from "./tool-calls.ts";

const plain: AcpDialect = {
  mode: null,
  modelOption: null,
  usage: "prompt",
  nameOf: ({ name }) => name,
  toolUse: acpToolUse,
  causeOf,
};

const opening = { cwd: "/w/tree", mcpServers: [{ name: "overstory" }], prompt: "Do it", resume: null, model: null };

/** A turn in which the program says these things one after the other. */
function turnWith(dialect: Partial<AcpDialect> = {}, more: object = {}) {
  const read = acpReader({ ...plain, ...dialect }, JSON.stringify({ ...opening, ...more }));
  const events: TurnEvent[] = [];
  const said: Record<string, unknown>[] = [];
  const take = (reading: Reading, answer: AgentAnswer = { kind: "granted", text: "" }): void => {
    events.push(...reading.events.filter(({ kind }) => kind !== "other"));
    for (const reply of reading.replies)
      said.push(JSON.parse(reply.kind === "say" ? reply.text : reply.form(answer)) as Record<string, unknown>);
  };
  return {
    events,
    said,
    line: (line: string, answer?: AgentAnswer) => take(read(line), answer),
    answer: (id: number, result: object) => take(read(JSON.stringify({ jsonrpc: "2.0", id, result }))),
    fail: (id: number, error: object) => take(read(JSON.stringify({ jsonrpc: "2.0", id, error }))),
    update: (update: object) =>
      take(read(JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s-1", update } }))),
  };
}

const words = (text: string): object => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const able = (agentCapabilities: object = {}): object => ({
  protocolVersion: 1,
  agentCapabilities,
  agentInfo: { version: "3.1" },
});

/** As far as the first prompt. */
function begun(dialect: Partial<AcpDialect> = {}) {
  const turn = turnWith(dialect);
  turn.answer(0, able());
  turn.answer(1, { sessionId: "s-1" });
  return turn;
}

test("a conversation begins with our directory, our tools and the prompt, each when the program is ready for it", () => {
  const { said, events } = begun();
  expect(said).toEqual([
    { jsonrpc: "2.0", id: 1, method: "session/new", params: { cwd: "/w/tree", mcpServers: [{ name: "overstory" }] } },
    {
      jsonrpc: "2.0",
      id: 2,
      method: "session/prompt",
      params: { sessionId: "s-1", prompt: [{ type: "text", text: "Do it" }] },
    },
  ]);
  expect(events).toEqual([{ kind: "session", providerSessionId: "s-1", model: null, version: "3.1" }]);
});

test("mode and model are chosen before the prompt, and a model that is refused ends the turn", () => {
  const turn = turnWith({ mode: "default", modelOption: "model" }, { model: "m-9" });
  turn.answer(0, able());
  turn.answer(1, { sessionId: "s-1" });
  turn.answer(2, {});
  expect(turn.said.slice(1).map(({ method, params }) => [method, params])).toEqual([
    ["session/set_mode", { sessionId: "s-1", modeId: "default" }],
    ["session/set_config_option", { sessionId: "s-1", configId: "model", value: "m-9" }],
  ]);
  turn.fail(3, { code: -32602, message: "no such model" });
  expect(turn.events.at(-1)).toMatchObject({ kind: "turn-ended", failure: "model", text: "no such model" });
});

test("a conversation goes on in the way that the program offers, and what it tells again of it is no news", () => {
  for (const [can, method] of [
    [{ loadSession: true }, "session/load"],
    [{ loadSession: true, sessionCapabilities: { resume: {} } }, "session/resume"],
  ] as const) {
    const turn = turnWith({}, { resume: "s-0" });
    turn.answer(0, able(can));
    expect(turn.said.at(-1)).toMatchObject({ method, params: { sessionId: "s-0", cwd: "/w/tree" } });
    turn.update(words("from yesterday"));
    turn.answer(1, {});
    turn.update(words("new"));
    turn.answer(2, { stopReason: "end_turn" });
    expect(turn.events).toMatchObject([
      { kind: "session", providerSessionId: "s-0" },
      { kind: "text", text: "new" },
      { kind: "turn-ended", failure: null, text: "new" },
    ]);
  }
});

test("a conversation that cannot be gone on with is lost, and a new one begins by our records", () => {
  const unable = turnWith({}, { resume: "s-0" });
  unable.answer(0, able());
  const refused = turnWith({}, { resume: "s-0" });
  refused.answer(0, able({ loadSession: true }));
  refused.fail(1, { code: -32603, message: "Internal error", data: { details: "Invalid session identifier" } });
  for (const { events } of [unable, refused])
    expect(events.at(-1)).toMatchObject({ kind: "turn-ended", failure: "session_lost" });
});

test("a program of another version, and one that wants a login, end the turn with that", () => {
  const old = turnWith();
  old.answer(0, { protocolVersion: 7 });
  expect(old.events).toMatchObject([{ kind: "turn-ended", failure: "program" }]);
  const strange = turnWith();
  strange.answer(0, able());
  strange.fail(1, { code: -32000, message: "Authentication required" });
  expect(strange.events).toMatchObject([{ kind: "turn-ended", failure: "login" }]);
});

test("a permission is given or refused for this one use, by the kind of the option", () => {
  const question = acpQuestion({ toolCallId: "t1", kind: "execute", title: "git push", rawInput: {} });
  const turn = begun();
  turn.line(question);
  turn.line(question, { kind: "refused", reason: "no pushing" });
  expect(turn.said.slice(2)).toMatchObject([
    { id: 7, result: { outcome: { outcome: "selected", optionId: "o" } } },
    { id: 7, result: { outcome: { outcome: "selected", optionId: "n" } } },
  ]);
  turn.line(question.replace("allow_once", "allow_all"));
  expect(turn.said.at(-1)).toMatchObject({ result: { outcome: { outcome: "cancelled" } } });
});

test("a call begins when the program asks whether it may make it, also where it tells nothing more before its end", () => {
  const turn = begun();
  const before = turn.events.length;
  turn.line(acpQuestion({ toolCallId: "t1", status: "pending", kind: "execute", title: "sleep 9" }));
  expect(turn.events.slice(before)).toMatchObject([{ kind: "tool-start", id: "t1", summary: "sleep 9" }]);
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed", title: "sleep 9" });
  expect(turn.events.slice(before + 1)).toMatchObject([{ kind: "tool-end", id: "t1", failed: false }]);
});

test("a program that gives up at a refusal is told the reason and goes on; one that went on by itself is not", () => {
  const question = acpQuestion({ toolCallId: "t1", kind: "execute", title: "bash", rawInput: { command: "git push" } });
  const turn = begun();
  turn.line(question, { kind: "refused", reason: "no pushing" });
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "failed" });
  turn.update(words("Info: Operation cancelled by user"));
  turn.answer(2, { stopReason: "end_turn" });
  expect(JSON.stringify(turn.said.at(-1))).toContain("- no pushing");
  expect(turn.said.at(-1)).toMatchObject({ id: 3, method: "session/prompt" });
  turn.line(question, { kind: "refused", reason: "no pushing" });
  turn.update(words("Then I do it otherwise."));
  turn.answer(3, { stopReason: "end_turn" });
  expect(turn.events.at(-1)).toMatchObject({ kind: "turn-ended", failure: null });
});

test("calls and updates are one thing, whichever comes first", () => {
  const turn = begun();
  turn.update({ sessionUpdate: "tool_call", toolCallId: "a", title: "bash", kind: "execute", rawInput: {} });
  turn.update({
    sessionUpdate: "tool_call_update",
    toolCallId: "a",
    rawInput: { command: "ls" },
    status: "in_progress",
  });
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: "a", status: "completed" });
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: "a", status: "completed" });
  turn.update({
    sessionUpdate: "tool_call_update",
    toolCallId: "b",
    status: "failed",
    rawOutput: { message: "no such file" },
  });
  expect(turn.events.slice(1)).toMatchObject([
    { kind: "tool-start", id: "a", name: "bash", input: { command: "ls" }, summary: "ls" },
    { kind: "tool-end", id: "a", failed: false },
    { kind: "tool-start", id: "b" },
    { kind: "tool-end", id: "b", failed: true, said: "no such file" },
  ]);
});

test("what the program asks beyond permissions is answered, so that it does not wait", () => {
  const turn = begun();
  for (const method of ["fs/write_text_file", "terminal/create", "_x/new"])
    turn.line(JSON.stringify({ jsonrpc: "2.0", id: "q", method, params: {} }));
  expect(turn.said.slice(2)).toMatchObject([1, 2, 3].map(() => ({ id: "q", error: { code: -32601 } })));
});

test("a failure of the provider is one, also where the program ends its turn as if all were well", () => {
  const quiet = begun();
  quiet.update(words("Info: Request failed due to a transient API error. Retrying..."));
  quiet.update(words("Error: Authentication failed with provider (HTTP 401)."));
  quiet.answer(2, { stopReason: "end_turn" });
  expect(quiet.events.at(-1)).toMatchObject({ failure: "login" });
  const loud = begun();
  loud.fail(2, { code: 429, message: "slow down" });
  expect(loud.events.at(-1)).toMatchObject({ failure: "rate_limit" });
  for (const [stopReason, failure] of [
    ["refusal", "refusal"],
    ["cancelled", "unknown"],
    ["max_tokens", "unknown"],
  ] as const) {
    const turn = begun();
    turn.answer(2, { stopReason });
    expect(turn.events.at(-1)).toMatchObject({ kind: "turn-ended", failure });
  }
});

test("what a new conversation cost is told with its end", () => {
  const turn = begun();
  turn.update({ sessionUpdate: "usage_update", used: 1, size: 9, cost: { amount: 0.25, currency: "USD" } });
  turn.answer(2, { stopReason: "end_turn" });
  expect(turn.events.at(-1)).toMatchObject({ kind: "turn-ended", costUsd: 0.25 });
});

test("a tool of ours is known by its name, and a command by its words", () => {
  const call = { id: "t", title: "", kind: "other", input: {}, paths: [], texts: [], changes: false } as const;
  for (const name of [
    "overstory_finish",
    "overstory-finish",
    "mcp__overstory__finish",
    "finish (overstory MCP Server)",
  ])
    expect(acpToolUse({ ...call, name })).toMatchObject({ kind: "own" });
  expect(acpToolUse({ ...call, name: "overstory_finish", input: { command: "git push" } })).toMatchObject({
    kind: "other",
    command: "git push",
  });
  const listed = { ...call, kind: "execute", name: "x", input: { command: ["bash", "-lc", "git push"] } } as const;
  expect(acpToolUse(listed)).toMatchObject({ command: "git push" });
});

test("a command is judged as one, whatever kind of tool the program takes it for", () => {
  const call = { id: "t", name: "x", title: "", input: {}, paths: [], texts: [], changes: false } as const;
  for (const kind of ["read", "search", "think", "fetch"] as const) {
    const command = ["bash", "-lc", "cat a && git push"];
    expect(acpToolUse({ ...call, kind, input: { command } })).toMatchObject({
      kind: "execute",
      command: "cat a && git push",
    });
  }
  const view = { ...call, kind: "read", input: { command: "view", path: "a.ts" } } as const;
  expect(acpToolUse(view)).toMatchObject({ kind: "read", paths: ["a.ts"] });
});

test("no program calls a tool of its own one of ours", () => {
  const calls = new AcpCalls(({ name }) => name);
  const told = { toolCallId: "t", title: "Delete", rawInput: { x: 1 } };
  expect(calls.learn({ ...told, kind: "own" }).kind).toBe("other");
  expect(calls.learn({ ...told, kind: "delete" }).kind).toBe("delete");
});

test("what a part of ours inside the program tells counts: tokens, cost and why the provider failed", () => {
  const aside = (line: Readonly<Record<string, unknown>>): Aside =>
    line.type === "step"
      ? { events: [{ kind: "other", name: "step" }], costUsd: 0.5 }
      : { events: [], problem: { cause: "login", said: "401" } };
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const turn = begun({ usage: "none", aside });
  turn.line('{"type":"step"}');
  turn.line('{"type":"step"}');
  turn.answer(2, { stopReason: "end_turn", usage });
  expect(turn.events.slice(1)).toMatchObject([
    { kind: "cost", usd: 0.5 },
    { kind: "cost", usd: 1 },
    { kind: "turn-ended", failure: null, costUsd: 1 },
  ]);
  const refused = begun({ usage: "none", aside });
  refused.line('{"type":"problem"}');
  refused.fail(2, { code: -32603, message: "Internal error" });
  expect(refused.events.at(-1)).toMatchObject({ kind: "turn-ended", failure: "login", text: "401" });
});

test("an answer with a number that was not asked for, and a second answer, count for nothing", () => {
  const turn = turnWith();
  turn.answer(2, { stopReason: "end_turn" });
  turn.answer(0, able());
  turn.answer(1, { sessionId: "s-1" });
  turn.answer(1, { sessionId: "s-2" });
  turn.answer(99, { stopReason: "end_turn" });
  turn.answer(3, { stopReason: "end_turn" });
  expect(turn.events).toMatchObject([{ kind: "session", providerSessionId: "s-1" }]);
  turn.answer(2, { stopReason: "end_turn" });
  turn.answer(2, { stopReason: "refusal" });
  expect(turn.events.slice(1)).toMatchObject([{ kind: "turn-ended", failure: null }]);
});

test("the answer to a prompt that an earlier supervisor gave after a refusal ends the turn", () => {
  const turn = begun();
  turn.answer(2, { stopReason: "end_turn" });
  turn.update(words("Then otherwise."));
  turn.answer(3, { stopReason: "end_turn" });
  expect(turn.events.filter(({ kind }) => kind === "turn-ended")).toHaveLength(2);
});

test("a call without an id, and a new call with an old id, are known by what is told of them alone", () => {
  const turn = begun();
  const asked: (string | null)[] = [];
  const ask = (toolCall: object): void => {
    const read = acpReader(plain, JSON.stringify(opening));
    read(JSON.stringify({ jsonrpc: "2.0", id: 0, result: able() }));
    read(JSON.stringify({ jsonrpc: "2.0", id: 1, result: { sessionId: "s" } }));
    read(acpQuestion({ title: "ls", kind: "execute", rawInput: { command: "ls" } }));
    for (const { replies } of [read(acpQuestion(toolCall))])
      for (const reply of replies)
        if (reply.kind === "ask" && reply.request.kind === "permission") asked.push(reply.request.use.command);
  };
  ask({ title: "git push", kind: "execute" });
  turn.update({ sessionUpdate: "tool_call", toolCallId: "a", kind: "execute", rawInput: { command: "ls" } });
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: "a", status: "completed" });
  turn.update({
    sessionUpdate: "tool_call",
    toolCallId: "a",
    title: "git push",
    kind: "execute",
    status: "in_progress",
  });
  expect(asked).toEqual(["git push"]);
  expect(turn.events.filter(({ kind }) => kind === "tool-start")).toMatchObject([
    { summary: "ls" },
    { summary: "git push" },
  ]);
});

test.each([
  ["among its metadata", { metadata: { exit: 1 } }],
  ["by itself", { exitCode: 1 }],
  ["among its contents", { contents: [{ type: "shell_exit", exitCode: 1 }] }],
])("a command that failed is a failed call, where the program tells its exit code %s", (_, rawOutput) => {
  const turn = begun();
  turn.update({
    sessionUpdate: "tool_call",
    toolCallId: "a",
    title: "bash",
    kind: "execute",
    status: "pending",
    rawInput: { cwd: "/w" },
  });
  turn.update({
    sessionUpdate: "tool_call_update",
    toolCallId: "a",
    status: "in_progress",
    rawInput: { command: "false" },
  });
  turn.update({
    sessionUpdate: "tool_call_update",
    toolCallId: "a",
    status: "completed",
    rawOutput,
  });
  expect(turn.events.slice(1)).toMatchObject([
    { kind: "tool-start", summary: "false" },
    { kind: "tool-end", failed: true },
  ]);
});
