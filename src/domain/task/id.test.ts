import { expect, test } from "bun:test";
import fc from "fast-check";
import { taskId } from "../name/name.ts";
import { taskPrefix } from "./id.ts";

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
