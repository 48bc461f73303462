import { expect, test } from "bun:test";
import { inputEffects } from "./input-programs.ts";
import { literal } from "./shell/syntax.ts";

const length = 60_000;

test.each([
  ["gdb", "\n"],
  ["gdb", " \n"],
  ["gdb", " "],
  ["ed", "/a"],
  ["ed", "1,"],
  ["ed", "s/\\a"],
  ["ed", "d|"],
  ["ed", "g/x/"],
  ["patch", "--- "],
])("%s reads a text of nothing but %j in a moment", (name, piece) => {
  const text = piece.repeat(length / piece.length);
  const began = performance.now();
  inputEffects(name, [], literal(text));
  expect(performance.now() - began).toBeLessThan(2_000);
});

test("a debugger is told to run a program in any line", () => {
  const runs = (text: string): boolean => inputEffects("gdb", [], literal(text)).runs;
  expect(["run\n  shell git push", "!ls", 'call (int)system("ls")'].map(runs)).toEqual([true, true, true]);
  expect(runs("break shell\nrun\nbt\n")).toBe(false);
});
