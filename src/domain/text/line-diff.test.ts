import { expect, test } from "bun:test";
import fc from "fast-check";
import { changesOnly, lineDiff } from "./line-diff.ts";

const text = fc.array(fc.constantFrom("a", "b", "c", "")).map((lines) => lines.join("\n"));

test("the kept and removed lines are the older text, the kept and added ones the newer", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const diff = lineDiff(before, after);
      const of = (mark: string) =>
        diff.filter((line) => line.mark === " " || line.mark === mark).map((line) => line.text);
      expect(of("-").join("\n")).toBe(before.replace(/\n$/, ""));
      expect(of("+").join("\n")).toBe(after.replace(/\n$/, ""));
    }),
  );
});

test("equal texts have no changes; of a long one only the neighbourhood of each change is kept", () => {
  expect(changesOnly(lineDiff("a\nb", "a\nb\n"))).toEqual([]);
  const before = Array.from({ length: 20 }, (_, i) => `line ${i}`);
  const after = before.with(2, "x").with(15, "y");
  const shown = changesOnly(lineDiff(before.join("\n"), after.join("\n")), 1);
  expect(shown.map((line) => (line === undefined ? "..." : `${line.mark}${line.text}`))).toEqual([
    " line 1",
    "-line 2",
    "+x",
    " line 3",
    "...",
    " line 14",
    "-line 15",
    "+y",
    " line 16",
  ]);
});
