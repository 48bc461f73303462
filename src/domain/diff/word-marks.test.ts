import { expect, test } from "bun:test";
import fc from "fast-check";
import { wordMarks } from "./word-marks.ts";

const marked = (line: string, marks: readonly (readonly [number, number])[]): readonly string[] =>
  marks.map(([from, to]) => line.slice(from, to));

test.each([
  ["const now = Date.now();", "const now = clock();", ["Date.now"], ["clock"]],
  ["if (exp < now) {", "if (exp <= now) {", [], ["="]],
  ["return a;", "return a + b;", [], [" + b"]],
  ["  one two three", "  one 2 three", ["two"], ["2"]],
])("%p and %p differ in single words", (before, after, went, came) => {
  const marks = wordMarks(before, after);
  expect(marked(before, marks?.before ?? [])).toEqual(went);
  expect(marked(after, marks?.after ?? [])).toEqual(came);
});

test("lines that have little in common, the same line twice, and very long lines get no marks", () => {
  expect(wordMarks("const a = 1;", "throw new Error(words)")).toBeUndefined();
  expect(wordMarks("same", "same")).toBeUndefined();
  expect(wordMarks("a,".repeat(200), "b,".repeat(200))).toBeUndefined();
});

test("what is left of both lines without their marks is the same text", () => {
  const words = fc.array(fc.constantFrom("a", "bb", " ", "(", ")", "=", "long_name"), { maxLength: 20 });
  fc.assert(
    fc.property(words, words, (one, other) => {
      const [before, after] = [one.join(""), other.join("")];
      const marks = wordMarks(before, after);
      if (marks === undefined) return;
      const rest = (line: string, ranges: readonly (readonly [number, number])[]): string =>
        ranges.reduceRight((left, [from, to]) => left.slice(0, from) + left.slice(to), line).replaceAll(/\s/g, "");
      expect(rest(before, marks.before)).toBe(rest(after, marks.after));
    }),
  );
});
