import { expect, test } from "bun:test";
import { patchStat } from "./patch-stat.ts";

test("lines are counted in hunks alone, so that a line of dashes is not taken for a header", () => {
  const patch = [
    "diff --git a/list.sql b/list.sql",
    "index 1..2 100644",
    "--- a/list.sql",
    "+++ b/list.sql",
    "@@ -1,3 +1,2 @@",
    " one",
    "--- a comment",
    "-two",
    "+++ three",
    "diff --git a/old name b/new name",
    "similarity index 100%",
    "rename from old name",
    "rename to new name",
    "diff --git a/gone b/gone",
    "deleted file mode 100644",
    "--- a/gone",
    "+++ /dev/null",
    "@@ -1 +0,0 @@",
    "-x",
    "diff --git a/pic.png b/pic.png",
    "Binary files a/pic.png and b/pic.png differ",
    "",
  ].join("\n");
  expect(patchStat(patch)).toEqual([
    { path: "list.sql", added: 1, removed: 2 },
    { path: "new name", added: 0, removed: 0 },
    { path: "gone", added: 0, removed: 1 },
    { path: "pic.png", added: 0, removed: 0 },
  ]);
  expect(patchStat("")).toEqual([]);
});
