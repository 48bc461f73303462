import { expect, test } from "bun:test";
import { specText } from "./spec.ts";

test("a spec ends with a newline and names its author, if known, in a hidden first line", () => {
  expect(specText("body", null)).toBe("body\n");
  expect(specText("body\n", "ann")).toBe("<!-- written-by: ann -->\nbody\n");
});
