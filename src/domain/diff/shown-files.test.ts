import { expect, test } from "bun:test";
import { closedFiles, type FileChange, openLines, openTotal, risksOf } from "./shown-files.ts";

const change = (path: string, added: number | null = 1, removed: number | null = 1): FileChange => ({
  path,
  oldPath: null,
  status: "modified",
  added,
  removed,
  oldBlob: "1",
  newBlob: "2",
});
const none = (): boolean => false;

test.each([
  ["src/a.ts", 10, 3, null],
  ["logo.png", null, null, "binary"],
  ["package-lock.json", 10, 3, "generated"],
  ["web/dist/app.min.js", 1, 1, "generated"],
  ["src/long.ts", openLines, 1, "large"],
] as const)("%s with %p and %p lines is closed because: %p", (path, added, removed, why) => {
  expect(closedFiles([change(path, added, removed)], none)).toEqual([why]);
});

test("the project says which other files are generated", () => {
  expect(closedFiles([change("docs/cli.md")], (path) => path === "docs/cli.md")).toEqual(["generated"]);
});

test("of a diff that is too long the first files are open", () => {
  const files = Array.from({ length: 20 }, (_, at) => change(`f${at}`, openLines / 2, openLines / 2));
  const closed = closedFiles(files, none);
  expect(closed.indexOf("many")).toBe(openTotal / openLines);
  expect(closed.lastIndexOf(null)).toBe(openTotal / openLines - 1);
});

test("risks name what to look at first: files outside of the scope, then deletions and long changes", () => {
  const of = (file: FileChange, outside = false) => risksOf(file, { outside, closed: null });
  expect(of(change("a.ts"))).toEqual([]);
  expect(of({ ...change("a.ts", 0, 900), status: "deleted" }, true)).toEqual([
    "outside its scope",
    "deleted",
    "large change",
  ]);
});
