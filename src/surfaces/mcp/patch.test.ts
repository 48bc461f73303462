import { expect, test } from "bun:test";
import { countLines, filesOf } from "./patch.ts";

const patch = `diff --git a/src/a.ts b/src/a.ts
index 1..2 100644
--- a/src/a.ts
+++ b/src/a.ts
@@ -1,2 +1,2 @@
-old
+new
+diff --git a/fake b/fake
 same
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
--- a line that starts so
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
`;

test("a patch falls apart into its files, whatever their lines look like", () => {
  expect(filesOf(patch).map(({ path }) => path)).toEqual(["src/a.ts", "gone.txt", "logo.png"]);
  expect(filesOf(patch).map(countLines)).toEqual([
    { added: 2, removed: 1 },
    { added: 0, removed: 1 },
    { added: 0, removed: 0 },
  ]);
  expect(filesOf("")).toEqual([]);
});
