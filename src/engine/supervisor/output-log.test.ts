import { describe, expect, test } from "bun:test";
import type { TurnEvent } from "../../domain/turn/turn-event.ts";
import type { LineReader } from "../../ports/runtime.ts";
import { OutputLog } from "./output-log.ts";

const fileOf = (text: string) => {
  const bytes = new TextEncoder().encode(text);
  return {
    size: () => bytes.length,
    read: (offset: number, length: number) => bytes.subarray(offset, offset + length),
  };
};

const none: ReadonlyMap<string, number> = new Map();
const logOf = (file: ReturnType<typeof fileOf>, lines: number): OutputLog =>
  new OutputLog(file, reader, { lines, toolStarts: none }, () => 0);

const reader: LineReader = (line) => ({
  events:
    line === "end"
      ? [{ kind: "turn-ended", failure: null, text: "all well", resetAt: null, costUsd: 0.5 }]
      : [{ kind: "text", text: line }],
  replies: line.endsWith("?") ? [{ kind: "say", text: `to ${line}` }] : [],
});

test("a successor gives out only what its predecessor had not stored", () => {
  const file = fileOf("one\ntwo\nthree\n");
  const log = logOf(file, 2);
  expect(log.take().events).toMatchObject([{ line: 2, part: 0, event: { text: "three" } }]);
  expect(log.place).toEqual({ offset: file.size(), lines: 3 });
});

test("only lines that are not stored yet are answered, each under its place", () => {
  const log = logOf(fileOf("one?\ntwo\nthree?\nfour?"), 2);
  expect(log.take().replies).toEqual([{ line: 2, part: 0, reply: { kind: "say", text: "to three?" } }]);
  // A process that is gone waits for no answer.
  expect(log.finish()).toHaveLength(1);
  expect(log.take().replies).toEqual([]);
});

test("a successor knows that the turn is over when its predecessor had read that far", () => {
  const log = logOf(fileOf("one\nend\n"), 2);
  expect(log.take().events).toEqual([]);
  expect(log.ended).toMatchObject({ failure: null, text: "all well" });
});

test("the same holds for a last word without a line end", () => {
  const log = logOf(fileOf("one\nend"), 2);
  log.take();
  expect(log.finish()).toEqual([]);
  expect(log.ended).toMatchObject({ failure: null });
});

test("a turn that says twice that it is over costs both, and its last word counts", () => {
  const log = logOf(fileOf("one\nend\ntwo\nend\n"), 0);
  log.take();
  expect(log.costUsd).toBe(1);
});

describe("the end of a tool's call", () => {
  /** Lines such as `start t1 5`: the last word is the runtime's own time. */
  const tools: LineReader = (line) => {
    const [kind, id = "", at] = line.split(" ");
    const stated = at === undefined ? null : Number(at);
    const event: TurnEvent =
      kind === "start"
        ? { kind: "tool-start", id, name: "Bash", summary: `ls ${id}`, input: {}, at: stated }
        : { kind: "tool-end", id, failed: false, at: stated };
    return { events: [event], replies: [] };
  };
  const callsIn = (text: string, stored: { lines: number; toolStarts?: [string, number][] }, ...times: number[]) => {
    const toolStarts = new Map(stored.toolStarts ?? []);
    const log = new OutputLog(fileOf(text), tools, { lines: stored.lines, toolStarts }, () => times.shift() ?? 0);
    return log.take().events.flatMap(({ call }) => call ?? []);
  };
  const call = (id: string, durationMs: number | null) => ({ tool: "Bash", summary: `ls ${id}`, durationMs });

  test("knows tool, summary and duration of its start, by the id of the call", () => {
    const text = "start t1\nstart t2\nend t2\nend t1\n";
    expect(callsIn(text, { lines: 0 }, 100, 130, 150, 1_100)).toEqual([call("t2", 20), call("t1", 1_000)]);
  });

  test("goes by the runtime's own times where both are stated, and never mixes them with ours", () => {
    expect(callsIn("start t1 5000\nend t1 5250\n", { lines: 0 }, 100, 110)).toEqual([call("t1", 250)]);
    expect(callsIn("start t1\nend t1 5250\n", { lines: 0 }, 100, 110)).toEqual([call("t1", 10)]);
  });

  test("is not before its start, whatever the clocks say", () => {
    expect(callsIn("start t1 5000\nend t1 4000\n", { lines: 0 })).toEqual([call("t1", 0)]);
  });

  test("keeps its duration when another supervisor had read the start", () => {
    const stated = "start t1 5000\nend t1 5250\n";
    expect(callsIn(stated, { lines: 1 }, 9_000)).toEqual([call("t1", 250)]);
    const silent = "start t1\nend t1\n";
    expect(callsIn(silent, { lines: 1, toolStarts: [["t1", 8_500]] }, 9_000)).toEqual([call("t1", 500)]);
    expect(callsIn(silent, { lines: 1 }, 9_000)).toEqual([call("t1", null)]);
  });

  test("without a start has no duration", () => {
    expect(callsIn("end t9 10\n", { lines: 0 })).toEqual([{ tool: null, summary: null, durationMs: null }]);
  });
});

test("a call is open until it has ended or the model speaks again", () => {
  const events: Record<string, TurnEvent> = {
    a: { kind: "tool-start", id: "a", name: "shell", summary: null, input: {}, at: null },
    b: { kind: "tool-start", id: "b", name: "shell", summary: null, input: {}, at: null },
    "a ended": { kind: "tool-end", id: "a", failed: false, at: null },
    speaks: { kind: "text", text: "so be it" },
    tokens: { kind: "usage", messageId: "m", model: null, input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
  };
  const read: LineReader = (line) => ({ events: [events[line] ?? { kind: "other", name: line }], replies: [] });
  const isOpen = (...lines: string[]): boolean => {
    const log = new OutputLog(fileOf(`${lines.join("\n")}\n`), read, { lines: 0, toolStarts: none }, () => 0);
    log.take();
    return log.hasOpenCall;
  };
  expect([isOpen("speaks"), isOpen("a"), isOpen("a", "tokens"), isOpen("a", "a ended")]).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect([isOpen("a", "b", "a ended"), isOpen("a", "b", "speaks")]).toEqual([true, false]);
});

test("a call that the guard refused is not waited for", () => {
  const read: LineReader = (id) => ({
    events: [{ kind: "tool-start", id, name: "shell", summary: null, input: {}, at: null }],
    replies: [],
  });
  const log = new OutputLog(fileOf("a\nb\n"), read, { lines: 0, toolStarts: none }, () => 0);
  log.take();
  log.refused("a");
  expect(log.hasOpenCall).toBe(true);
  log.refused("b");
  expect(log.hasOpenCall).toBe(false);
});
