import { expect, test } from "bun:test";
import { patchedFiles } from "./patch.ts";

const patch = (...lines: readonly string[]): string => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

test.each([
  ["plain", "*** Add File: ../b2/x"],
  ["indented by a space", " *** Add File: ../b2/x"],
  ["indented by a tab", "\t*** Update File: ../b2/x"],
  ["indented by another space of Unicode", "\u3000\u0085*** Delete File: ../b2/x"],
  ["without the space", "*** Move to:../b2/x"],
  ["with more spaces", "***  Add  File :  ../b2/x  "],
  ["in small letters", "*** add file: ../b2/x"],
  ["with the end of a line of Windows", "*** Add File: ../b2/x\r"],
  ["behind a line end that only some readers know", "+text\u2028*** Add File: ../b2/x"],
  ["behind a carriage return", "+text\r*** Add File: ../b2/x"],
])("a header %s names its file", (_, line) => {
  expect(patchedFiles(patch("*** Add File: ok.txt", "+x", line, "+y"))).toContain("../b2/x");
});

test("a separator of lines inside a path does not end the path", () => {
  expect(patchedFiles(patch("*** Add File: a\u2028/../../b2/x"))).toContain("a\u2028/../../b2/x");
});

test("what a patch adds, takes away or says is no header", () => {
  const lines = ["+*** Add File: ../a", "-*** Delete File: ../b", "+see *** Add File: ../c", "*** End of File"];
  expect(patchedFiles(patch("*** Update File: ok.txt", "@@", ...lines))).toEqual(["ok.txt"]);
});

test("the time grows with the length of a patch, and with nothing else", () => {
  const long = 200_000;
  const floods = [" ".repeat(long), "*** ".repeat(long / 4), "\u2028".repeat(long), "***".padEnd(long)];
  const began = process.cpuUsage();
  for (const flood of floods) patchedFiles(patch(`*** Add File: ${flood}x`, flood, `${flood}*** Add File: y`));
  const { user, system } = process.cpuUsage(began);
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
