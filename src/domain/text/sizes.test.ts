import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkSizes, shortened, sizes, utf8Length } from "./sizes.ts";

test("the size is that of the stored bytes", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
    }),
  );
});

test("of several texts the first that is too long is named with both sizes", () => {
  expect(checkSizes(["subject", "x".repeat(sizes.line), sizes.line], ["payload", null, 1])).toMatchObject({ ok: true });
  expect(checkSizes(["subject", "x", sizes.line], ["body", "x".repeat(3_000), sizes.line])).toMatchObject({
    ok: false,
    refusal: { kind: "invalid", field: "body", problem: "has 3000 bytes; 2048 bytes are allowed" },
  });
});

test("a long text, list or record inside a value is cut and says by how much", () => {
  expect(shortened({ command: "x".repeat(12), deep: [{ text: "short" }] }, 10)).toEqual({
    command: `${"x".repeat(10)}… (2 more characters)`,
    deep: [{ text: "short" }],
  });
  expect(
    shortened(
      Array.from({ length: 203 }, () => 1),
      10,
    ),
  ).toHaveLength(201);
  expect(
    Object.keys(shortened(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [n, n])), 10) as object),
  ).toHaveLength(201);
});
