import { expect, test } from "bun:test";
import { hunksIn } from "../../src/domain/diff/hunks.ts";
import type { DiffFile } from "../src/api/types.ts";
import { type DiffRow, diffRows, placeOf } from "../src/diff/diff-rows.ts";
import { anchor, belowLines, type Draft, findingsOf } from "../src/pages/review/drafts.ts";

const file = (patch: string, more: Partial<DiffFile> = {}): DiffFile => ({
  path: "a.ts",
  oldPath: null,
  status: "modified",
  added: 1,
  removed: 1,
  oldBlob: "1",
  newBlob: "2",
  risks: [],
  closed: null,
  hunks: hunksIn(patch),
  ...more,
});
const patch = "@@ -10,4 +10,4 @@ f()\n stays\n-old one\n-gone\n+new one\n end\n@@ -30 +29,2 @@\n last\n+more\n";

const inWords = (row: DiffRow): string => {
  switch (row.kind) {
    case "gap":
      return `gap ${row.count} ${row.heading}`.trim();
    case "line":
      return `${row.old ?? ""}|${row.now ?? ""}|${row.cell.sign}${row.cell.text}`;
    case "pair":
      return `${row.left === undefined ? "" : `${row.left.no}${row.left.sign}${row.left.text}`} | ${row.right === undefined ? "" : `${row.right.no}${row.right.sign}${row.right.text}`}`;
    default:
      return row.kind;
  }
};
const rows = (files: readonly DiffFile[], mode: "split" | "unified", below = new Map<string, readonly string[]>()) =>
  diffRows(files, { mode, isFolded: () => false, below }).map(inWords);

test("in one column every line has its numbers on both sides, and what is left out is counted", () => {
  expect(rows([file(patch)], "unified")).toEqual([
    "file",
    "gap 9 f()",
    "10|10| stays",
    "11||-old one",
    "12||-gone",
    "|11|+new one",
    "13|12| end",
    "gap 16",
    "30|29| last",
    "|30|+more",
    "gap null",
  ]);
});

test("in two columns lines stand beside those that they took the place of", () => {
  expect(rows([file(patch)], "split").slice(2, 6)).toEqual([
    "10 stays | 10 stays",
    "11-old one | 11+new one",
    "12-gone | ",
    "13 end | 12 end",
  ]);
});

test("closed, folded and empty files have a head and say why nothing follows", () => {
  expect(rows([file("", { closed: "generated" }), file("", { path: "b.ts", status: "renamed" })], "split")).toEqual([
    "file",
    "closed",
    "file",
    "plain",
  ]);
  const folded = diffRows([file(patch)], { mode: "split", isFolded: () => true, below: new Map() });
  expect(folded.map(inWords)).toEqual(["file"]);
});

const draft = (more: Partial<Draft>): Draft => ({
  id: "d1",
  path: "a.ts",
  side: "R",
  line: 11,
  severity: "error",
  text: "why?",
  quote: "new one",
  isOpen: false,
  ...more,
});

test("a comment stands below its line, follows the line into a newer commit, and is outdated when the line is gone", () => {
  const [same] = anchor([draft({})], [file(patch)]);
  expect(same?.at).toMatchObject({ line: 11 });
  expect(rows([file(patch)], "unified", new Map(belowLines(same === undefined ? [] : [same])))).toContain("below");
  const moved = patch.replace("@@ -10,4 +10,4 @@", "@@ -10,4 +14,4 @@");
  const [later] = anchor([draft({})], [file(moved)]);
  expect(later?.at).toMatchObject({ line: 15 });
  const [gone] = anchor([draft({ quote: "never there" })], [file(patch)]);
  expect(gone?.at).toBeUndefined();
});

test("findings name the line of the file as it is; lines that went are quoted", () => {
  const drafts = [
    draft({}),
    draft({ id: "d2", side: "L", line: 12, quote: "gone" }),
    draft({ id: "d3", line: 99, quote: "never there" }),
    draft({ id: "d4", text: "  " }),
  ];
  expect(findingsOf(anchor(drafts, [file(patch)]))).toEqual([
    { file: "a.ts", line: 11, severity: "error", text: "why?" },
    { file: "a.ts", line: null, severity: "error", text: 'removed line 12, "gone": why?' },
    { file: "a.ts", line: null, severity: "error", text: 'at the former line 99, "never there": why?' },
  ]);
});

test("a comment is about the side that is seen: the line as it is, or the one that went", () => {
  const shown = diffRows([file(patch)], { mode: "split", isFolded: () => false, below: new Map() });
  const places = shown.map((row) => placeOf(row, [file(patch)])).filter((place) => place !== undefined);
  expect(places.slice(0, 3)).toEqual([
    { path: "a.ts", side: "R", line: 10 },
    { path: "a.ts", side: "R", line: 11 },
    { path: "a.ts", side: "L", line: 12 },
  ]);
});
