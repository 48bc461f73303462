import { expect, test } from "bun:test";
import type { LineReader } from "../../ports/runtime.ts";
import { OutputLog } from "./output-log.ts";

const fileOf = (text: string) => {
  const bytes = new TextEncoder().encode(text);
  return {
    size: () => bytes.length,
    read: (offset: number, length: number) => bytes.subarray(offset, offset + length),
  };
};

const reader: LineReader = (line) =>
  line === "end"
    ? [{ kind: "turn-ended", failure: null, text: "all well", resetAt: null, costUsd: 0.5 }]
    : [{ kind: "text", text: line }];

test("a successor gives out only what its predecessor had not stored", () => {
  const file = fileOf("one\ntwo\nthree\n");
  const log = new OutputLog(file, reader, { lines: 2 });
  expect(log.take().events).toMatchObject([{ line: 2, part: 0, event: { text: "three" } }]);
  expect(log.place).toEqual({ offset: file.size(), lines: 3 });
});

test("a successor knows that the turn is over when its predecessor had read that far", () => {
  const log = new OutputLog(fileOf("one\nend\n"), reader, { lines: 2 });
  expect(log.take().events).toEqual([]);
  expect(log.ended).toMatchObject({ failure: null, text: "all well" });
});

test("the same holds for a last word without a line end", () => {
  const log = new OutputLog(fileOf("one\nend"), reader, { lines: 2 });
  log.take();
  expect(log.finish()).toEqual([]);
  expect(log.ended).toMatchObject({ failure: null });
});

test("a turn that says twice that it is over costs both, and its last word counts", () => {
  const log = new OutputLog(fileOf("one\nend\ntwo\nend\n"), reader, { lines: 0 });
  log.take();
  expect(log.costUsd).toBe(1);
});
