import { expect, test } from "bun:test";
import { keptInput, toolSummary } from "./tool-call.ts";

test("the summary of a call is its most telling field, in one short line", () => {
  expect(toolSummary({ description: "List the files", command: "ls -l" })).toBe("ls -l");
  expect(toolSummary({ file_path: "src/a.ts", content: "x".repeat(9_000) })).toBe("src/a.ts");
  expect(toolSummary({ command: "cat > a <<'EOF'\n  one\n\ttwo\nEOF" })).toBe("cat > a <<'EOF' one two EOF");
  const long = toolSummary({ command: `echo ${"x".repeat(5_000)}` });
  expect([long?.length, long?.slice(0, 7), long?.at(-1)]).toEqual([200, "echo xx", "…"]);
});

test("an input that names nothing a person would know has no summary", () => {
  for (const input of [undefined, null, "ls", 3, [], {}, { command: " " }, { command: 3 }, { count: 7 }]) {
    expect(toolSummary(input)).toBeNull();
  }
});

test("a short input is kept whole, a long one is shortened, and equal inputs have one digest", () => {
  const digest = (text: string): string => `of ${text.length}`;
  expect(keptInput({ command: "ls" }, digest)).toEqual({ input: { command: "ls" }, inputDigest: "of 16" });
  expect(keptInput(undefined, digest)).toEqual({});
  const written = keptInput({ file_path: "a.ts", content: "x".repeat(3_000) }, digest);
  expect(written).toEqual({
    input: { file_path: "a.ts", content: `${"x".repeat(1_000)}… (2000 more characters)` },
    inputDigest: "of 3033",
  });
});

test("no input takes more than a few thousand characters, however it is made", () => {
  const edits = Array.from({ length: 500 }, (_, at) => ({ old: `${at}`.repeat(400), new: "y".repeat(900) }));
  let deep: unknown = "z".repeat(2_000);
  for (let depth = 0; depth < 300; depth++) deep = { deep, more: "w".repeat(300) };
  for (const input of [{ edits }, { deep }, "q".repeat(50_000), Array.from({ length: 5_000 }, () => 1)]) {
    const kept = keptInput(input, () => "d");
    expect(JSON.stringify(kept.input).length).toBeLessThanOrEqual(4_000);
  }
});
