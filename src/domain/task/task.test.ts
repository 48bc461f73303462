import { expect, test } from "bun:test";
import fc from "fast-check";
import { taskId } from "../name/name.ts";
import { specText, taskPrefix } from "./task.ts";

test.each([
  ["overstory", "overstory"],
  ["My App!", "my-app"],
  ["@scope/pkg.js", "scope-pkg-js"],
  ["___", "task"],
  ["日本語", "task"],
])("the project %p gives the prefix %p", (name, prefix) => {
  expect(taskPrefix(name)).toBe(prefix);
});

test("whatever a project is called, its task ids are usable", () => {
  fc.assert(fc.property(fc.string(), (name) => taskId(`${taskPrefix(name)}-${"a".repeat(12)}`).ok));
});

test("a spec ends with a newline and names its author, if known, in a hidden first line", () => {
  expect(specText("body", null)).toBe("body\n");
  expect(specText("body\n", "ann")).toBe("<!-- written-by: ann -->\nbody\n");
});
