import { expect, test } from "bun:test";
import { hunksIn, longestLine } from "./hunks.ts";

const text = `diff --git a/a.ts b/a.ts
index 1..2 100644
--- a/a.ts
+++ b/a.ts
@@ -40,3 +40,3 @@ function expired() {
-  const now = Date.now();
+  const now = clock();
   if (exp < now) {
@@ -90 +90,2 @@
 end
+--- a line that looks like a header
\\ No newline at end of file
`;

test("a patch becomes hunks with their numbers, lines behind their signs, and the words that differ", () => {
  expect(hunksIn(text)).toEqual([
    {
      oldStart: 40,
      newStart: 40,
      heading: "function expired() {",
      lines: ["-  const now = Date.now();", "+  const now = clock();", "   if (exp < now) {"],
      words: [
        [0, 15, 23],
        [1, 15, 20],
      ],
    },
    {
      oldStart: 90,
      newStart: 90,
      heading: "",
      lines: [" end", "+--- a line that looks like a header", "\\ No newline at end of file"],
      words: [],
    },
  ]);
});

test("only lines that took the place of others are compared, in their order", () => {
  const lines = ["@@ -1,2 +1,3 @@", "-one two", "-three four", "+one 2", "+three 4", "+five"].join("\n");
  expect(hunksIn(lines)[0]?.words).toEqual([
    [0, 5, 8],
    [2, 5, 6],
    [1, 7, 11],
    [3, 7, 8],
  ]);
});

test("a line that no person reads to its end is cut, and says so", () => {
  const [hunk] = hunksIn(`@@ -0,0 +1 @@\n+${"x".repeat(longestLine + 10)}\n`);
  expect(hunk?.lines[0]).toEndWith("x… (11 more characters)");
});
