import { expect, test } from "bun:test";
import fc from "fast-check";
import { visible, visibleLine } from "./visible.ts";

test("ordinary text, newlines and tabs are left alone", () => {
  const text = "Grüße\n\t漢字 👍 a\\b";
  expect(visible(text)).toBe(text);
});

test("escape sequences, control bytes and DEL are shown instead of obeyed", () => {
  expect(visible("\u001b[2J\u0007\u0000\r\n\u007f")).toBe("\\x1b[2J\\x07\\x00\\r\n\\x7f");
  expect(visible("\u009b31m\u0085")).toBe("\\x9b31m\\x85");
});

test("characters that reorder what a person reads are shown", () => {
  expect(visible("a\u202eb\u2066c\u200fd\u2028e\u061cf")).toBe("a\\u202eb\\u2066c\\u200fd\\u2028e\\u061cf");
});

test("in one line newlines and tabs are shown too", () => {
  expect(visibleLine("a\nb\tc")).toBe("a\\nb\\tc");
});

test("nothing a terminal would act on is ever left", () => {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
  const unit = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.integer({ min: 0, max: 0xa0 }).map((code) => String.fromCharCode(code)),
  );
  fc.assert(
    fc.property(fc.array(unit), (parts) => {
      expect(visible(parts.join(""))).not.toMatch(dangerous);
      expect(visibleLine(parts.join(""))).not.toMatch(/[\n\t]/);
    }),
  );
});
