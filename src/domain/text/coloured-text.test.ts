import { expect, test } from "bun:test";
import { colouredText } from "./coloured-text.ts";

test("colours stay, and what else a terminal would obey goes", () => {
  expect(colouredText("\u001b[31mred\u001b[0m")).toBe("\u001b[31mred\u001b[0m");
  expect(colouredText("\u001b]0;title\u0007a\u001b[2Kb\u001b[1;2Hc\u001b7d\u0008")).toBe("abcd");
  expect(colouredText("\u001b]8;;http://x\u001b\\link\u001b]8;;\u001b\\")).toBe("link");
});

test("of a line that was written over, the last writing stays", () => {
  expect(colouredText("10 %\r50 %\r100 %\ndone\r\n")).toBe("100 %\ndone\n");
});
