import { expect, test } from "bun:test";
import { movedPastEdit } from "./moved-lines.ts";

const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join("");
const base = text("open(a);", "read(b);", "check(c);", "close(d);");
const inserted = text("open(a);", "read(b);", "log(e);", "check(c);", "close(d);");

/** The answer for a pair of sides, which must not depend on which of them is ours. */
function answer(one: string, other: string): string | undefined {
  const given = movedPastEdit({ base, ours: one, theirs: other });
  expect(movedPastEdit({ base, ours: other, theirs: one })).toBe(given);
  return given;
}

test("a line moved past the other side's new line is named", () => {
  expect(answer(text("close(d);", "open(a);", "read(b);", "check(c);"), inserted)).toBe("close(d);");
});

test("a line moved and edited on the way is named too", () => {
  expect(answer(text("close(d, now);", "open(a);", "read(b);", "check(c);"), inserted)).toBe("close(d);");
});

test("a line moved on one side of the other side's edit is no problem", () => {
  const late = text("open(a);", "read(b);", "check(c);", "close(d);", "log(e);");
  expect(answer(text("read(b);", "open(a);", "check(c);", "close(d);"), late)).toBeUndefined();
});

test("two lines edited in place around the other side's edit were not moved", () => {
  expect(answer(text("open(a, 1);", "read(b);", "check(c);", "close(d, 1);"), inserted)).toBeUndefined();
});

test("a move that both sides made alike goes past nobody's edit", () => {
  const moved = text("close(d);", "open(a);", "read(b);", "check(c);");
  expect(answer(moved, moved)).toBeUndefined();
});

test("brackets and bare keywords that vanish here and come up there are no move", () => {
  const blocks = text("if (a) {", "  b();", "}", "c();", "d();", "while (e) {", "  f();", "}");
  const one = text("if (a) b();", "c();", "d();", "while (e) {", "  f();", "}", "{", "}");
  const other = text("if (a) {", "  b();", "}", "c();", "c2();", "d();", "while (e) {", "  f();", "}");
  expect(movedPastEdit({ base: blocks, ours: one, theirs: other })).toBeUndefined();
});

test("so many rewritten lines that comparing them would take long count as moved", () => {
  const many = Array.from({ length: 900 }, (_, index) => `call${index}(x);`);
  const rewritten = many.map((line, index) => (index % 2 === 0 ? line : `other${index}(y);`));
  const one = many.map((line, index) => (index === 450 ? `${line} // seen` : line));
  expect(movedPastEdit({ base: text(...many), ours: text(...rewritten), theirs: text(...one) })).toBeDefined();
});
