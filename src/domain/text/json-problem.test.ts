import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonProblem } from "./json-problem.ts";

test.each([
  ["", "the text ends at line 1, column 1, where a value should be"],
  ['{"a": }', '"}" stands at line 1, column 7, where a value should be'],
  ["{a: 1}", '"a" stands at line 1, column 2, where a name in " should be'],
  ['{"a" 1}', '"1" stands at line 1, column 6, where ":" should be'],
  ["[1,\n 2\n 3]", '"3" stands at line 3, column 2, where "," or "]" should be'],
  ['{"a": "x', 'the text ends at line 1, column 9, where the closing " should be'],
  ["[1,]", '"]" stands at line 1, column 4, where a value should be'],
  ["{} x", '"x" stands at line 1, column 4, where the end should be'],
  ["'a'", '"\'" stands at line 1, column 1, where a value should be'],
])("%p", (text, problem) => {
  expect(jsonProblem(text)).toBe(problem);
});

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The test needs only the boolean.
    return false;
  }
};

test("it finds a problem exactly where the parser does", () => {
  fc.assert(fc.property(fc.json(), (text) => jsonProblem(text) === undefined));
  const damaged = fc.tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "}", '"', "x", "\n", "\\", "[", "0", "-"));
  fc.assert(
    fc.property(damaged, ([text, at, put]) => {
      const place = at % (text.length + 1);
      const changed = text.slice(0, place) + put + text.slice(place + 1);
      return (jsonProblem(changed) === undefined) === parses(changed);
    }),
    { numRuns: 2_000 },
  );
});

test("a text nested without end does not end the program", () => {
  expect(jsonProblem("[".repeat(100_000))).toContain("less nesting");
});
