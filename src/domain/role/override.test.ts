import { expect, test } from "bun:test";
import { replacementOf, roleTextFrom } from "./override.ts";

const hash = "0123456789abcdef";
const sources = { role: "lead", builtIn: "shipped\n", hash, replacement: undefined, addition: undefined } as const;

test("without files of the project's own the text that ships counts", () => {
  expect(roleTextFrom(sources)).toEqual({ role: "lead", text: "shipped\n", state: "built-in", added: false });
});

test("a replacement that says what it was made from counts, and goes out of date when that changes", () => {
  const replacement = replacementOf("lead", "shipped\n", hash).replace("shipped", "ours");
  expect(roleTextFrom({ ...sources, replacement })).toMatchObject({ text: "ours\n", state: "replaced" });
  expect(roleTextFrom({ ...sources, replacement, hash: "fedcba9876543210" })).toMatchObject({
    text: "ours\n",
    state: "outdated",
  });
});

test.each([
  ["says nothing", "ours\n"],
  ["speaks of another role", replacementOf("scout", "ours\n", hash)],
])("a replacement that %s does not count", (_, replacement) => {
  expect(roleTextFrom({ ...sources, replacement })).toMatchObject({ text: "shipped\n", state: "ignored" });
});

test("an addition comes after whichever counts; an empty one is none", () => {
  expect(roleTextFrom({ ...sources, addition: "\nalso\n" })).toMatchObject({ text: "shipped\n\nalso\n", added: true });
  expect(roleTextFrom({ ...sources, addition: " \n" })).toMatchObject({ text: "shipped\n", added: false });
});
