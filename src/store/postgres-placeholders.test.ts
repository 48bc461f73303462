import { expect, test } from "bun:test";
import { numbered } from "./postgres.ts";

test("each question mark becomes the next number", () => {
  expect(numbered('UPDATE t SET "a" = ?, b = ? WHERE c IN (?, ?)')).toBe(
    'UPDATE t SET "a" = $1, b = $2 WHERE c IN ($3, $4)',
  );
});

test("a question mark inside quotes is text", () => {
  expect(numbered("SELECT '?', 'it''s ?', \"odd?\" FROM t WHERE a = ?")).toBe(
    "SELECT '?', 'it''s ?', \"odd?\" FROM t WHERE a = $1",
  );
});

test("the same text gives the same answer again", () => {
  expect(numbered("SELECT ?")).toBe(numbered("SELECT ?"));
});
