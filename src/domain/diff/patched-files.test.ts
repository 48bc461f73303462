import { expect, test } from "bun:test";
import { patchedFiles } from "./patched-files.ts";

const patch = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,3 +1,3 @@
-old
+new
+diff --git a/fake b/fake
 same
diff --git a/list.sql b/list.sql
index 1..2 100644
--- a/list.sql
+++ b/list.sql
@@ -1,3 +1,2 @@
 one
--- a comment
-two
+++ three
diff --git a/old name b/new name
similarity index 100%
rename from old name
rename to new name
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
--- a line that starts so
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
`;

test("a patch falls apart into its files, and lines are counted in hunks alone, whatever they look like", () => {
  const files = patchedFiles(patch);
  expect(files.map(({ path, added, removed }) => `+${added} -${removed} ${path}`)).toEqual([
    "+2 -1 src/a.ts",
    "+1 -2 list.sql",
    "+0 -0 new name",
    "+0 -1 gone.txt",
    "+0 -0 logo.png",
  ]);
  expect(files.map(({ text }) => text).join("")).toBe(patch);
  expect(patchedFiles("")).toEqual([]);
});

test("names that git had to quote, and names with blanks, lose what git added", () => {
  const quoted = 'diff --git "a/b\\303\\244.ts" "b/b\\303\\244.ts"\n--- "a/b\\303\\244.ts"\n+++ "b/b\\303\\244.ts"\n';
  const blank = "diff --git a/a b.ts b/a b.ts\n--- a/a b.ts\t\n+++ b/a b.ts\t\n";
  expect(patchedFiles(quoted + blank).map(({ path }) => path)).toEqual(["bä.ts", "a b.ts"]);
});

test("a name that git puts in quotes is told as it is on the disk", () => {
  const quoted = String.raw`diff --git "a/gr\303\274n \"x\"\\y.txt" "b/gr\303\274n \"x\"\\y.txt"
index 1..2 100644
--- "a/gr\303\274n \"x\"\\y.txt"
+++ "b/gr\303\274n \"x\"\\y.txt"
@@ -1 +1 @@
-old
+new
diff --git "a/\346\226\207" "b/\344\273\266\t1"
similarity index 100%
rename from "\346\226\207"
rename to "\344\273\266\t1"
`;
  expect(patchedFiles(quoted).map(({ path }) => path)).toEqual(['grün "x"\\y.txt', "件\t1"]);
});
