import { expect, test } from "bun:test";
import { dropsLandedLines, type MergedFile, tellByIds } from "./dropped-lines.ts";

const text = (...lines: string[]): string => `${lines.join("\n")}\n`;

const base = text("one", "two", "three", "four", "five", "six");
const ours = text("one", "TWO", "three", "four", "five", "six");
const landed = text("one", "two", "three", "four", "five", "limit", "six");
const both = text("one", "TWO", "three", "four", "five", "limit", "six");

/** Another agent added the line `limit`; the branch changed the second line. */
const merged = (recorded: string | undefined, more: Partial<MergedFile> = {}): MergedFile => ({
  base,
  ours,
  landed,
  automatic: both,
  recorded,
  head: recorded,
  tip: landed,
  ...more,
});

const removed = text("one", "two", "three", "four", "six");
const conflicted = text(
  "one",
  "<<<<<<< a",
  "TWO",
  "=======",
  "2",
  ">>>>>>> b",
  "three",
  "four",
  "five",
  "limit",
  "six",
);

const cases: readonly (readonly [name: string, file: MergedFile, drops: boolean])[] = [
  ["a merge that took both sides in", merged(both), false],
  ["a merge that kept the branch's own file", merged(ours), true],
  ["a merge that kept the old file", merged(base), true],
  ["lines that a later commit brought back", merged(ours, { head: both }), false],
  ["lines that a later commit took out", merged(both, { head: ours }), false],
  ["lines that the landing branch has no more", merged(ours, { tip: base }), false],
  ["lines that the merge changed", merged(both.replace("limit", "LIMIT")), false],
  ["lines that a later commit changed", merged(ours, { head: both.replace("limit", "LIMIT") }), false],
  ["lines that the merge moved", merged(`limit\n${ours}`), false],
  ["a file that the merge removed", merged(undefined), false],
  ["a conflict at another place", merged(ours, { automatic: conflicted }), true],
  [
    "a conflict at the same place that was settled for the branch",
    merged(text("one", "two", "three", "four", "five", "LIMIT", "six"), {
      ours: text("one", "two", "three", "four", "five", "LIMIT", "six"),
      automatic: text(
        "one",
        "two",
        "three",
        "four",
        "five",
        "<<<<<<< a",
        "LIMIT",
        "=======",
        "limit",
        ">>>>>>> b",
        "six",
      ),
    }),
    false,
  ],
  ["lines that both sides had", merged(ours, { ours: both }), false],
  [
    "lines that others removed and the merge kept",
    merged(ours, { landed: removed, automatic: removed, tip: removed }),
    false,
  ],
  [
    "a file that others added and the merge left out",
    { base: undefined, ours: undefined, landed, automatic: landed, recorded: undefined, head: undefined, tip: landed },
    true,
  ],
  [
    "a file that others removed and the merge kept",
    { base, ours: base, landed: undefined, automatic: undefined, recorded: base, head: base, tip: undefined },
    false,
  ],
  [
    "a file without lines that others changed and the merge put back",
    { base: "\0a", ours: "\0a", landed: "\0b", automatic: "\0b", recorded: "\0a", head: "\0a", tip: "\0b" },
    true,
  ],
];

test.each(cases)("%s", (_, file, drops) => {
  expect(dropsLandedLines(file)).toBe(drops);
});

test.each(cases)("ids that tell about %s are right", (_, file, drops) => {
  // Here each text stands for its id.
  expect([drops, undefined]).toContain(tellByIds(file));
});

test("ids tell about a file that was settled as a whole, and about one that was put back", () => {
  const ids = { base: "1", ours: "2", landed: "3", automatic: "2", recorded: "4", head: "4", tip: "3" };
  expect(tellByIds(ids)).toBe(false);
  expect(tellByIds({ ...ids, ours: "1", automatic: "3", recorded: "1", head: "1" })).toBe(true);
  expect(tellByIds({ ...ids, automatic: "5" })).toBeUndefined();
});

test.each([1200, 3000, 20_000])("every fourth of %i lines that was left out is found, beside an own line", (length) => {
  const numbered = Array.from({ length }, (_, at) => `line ${at}`);
  const changed = numbered.map((line, at) => (at % 4 === 0 ? `${line} changed` : line));
  const withOwn = (lines: readonly string[]): string => text(...lines.with(2, "of the branch"));
  const file = { base: text(...numbered), ours: withOwn(numbered), landed: text(...changed), tip: text(...changed) };
  const left = { ...file, automatic: withOwn(changed), recorded: withOwn(numbered), head: withOwn(numbered) };
  expect(dropsLandedLines(left)).toBe(true);
  const kept = withOwn(changed);
  expect(dropsLandedLines({ ...left, recorded: kept, head: kept })).toBe(false);
});
