import { expect, test } from "bun:test";
import { screenful } from "./screenful.ts";

const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at + 1}`).join("\n");

test("what fits is shown as it is", () => {
  expect(screenful(lines(3), { columns: 40, rows: 4 }, "ov status")).toBe(lines(3));
  expect(screenful(`${lines(3)}\n`, { columns: 40, rows: 4 }, "ov status")).toBe(lines(3));
});

test("of a longer text the beginning is shown, and how to see the rest", () => {
  expect(screenful(lines(9), { columns: 40, rows: 5 }, "ov status")).toBe(`${lines(3)}\n... 6 more lines: ov status`);
});

test("a line that takes several rows counts as several", () => {
  const long = "x".repeat(45);
  expect(screenful(`a\n${long}\nb\nc`, { columns: 20, rows: 5 }, "ov s")).toBe("a\n... 3 more lines: ov");
  expect(screenful("one two three four\nb", { columns: 20, rows: 24 }, "ov s")).toBe("one two three four\nb");
});

test("a terminal of a row or two is not overrun", () => {
  expect(screenful(lines(9), { columns: 40, rows: 2 }, "ov status")).toBe("... 9 more lines: ov status");
  expect(screenful(lines(9), { columns: 40, rows: 1 }, "ov status")).toBe("... 9 more lines: ov status");
});
