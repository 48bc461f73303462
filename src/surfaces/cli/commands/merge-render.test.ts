import { expect, test } from "bun:test";
import { plain } from "../../shared/paint.ts";
import { mergeLines } from "./merge-render.ts";

const lines = (failed: readonly number[]): string =>
  mergeLines(plain, { pending: 0, approvals: [], failed, blocked: [] }).join("\n");

test("each branch that failed is named with the command that shows it", () => {
  expect(lines([4])).toContain("ov merge show 4");
  expect(lines([4, 7])).toContain("ov merge show 4, ov merge show 7");
  expect(lines([1, 2, 3, 4])).toContain("ov merge list --all");
});
