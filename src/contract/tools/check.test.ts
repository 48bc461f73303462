import { expect, test } from "bun:test";
import fc from "fast-check";
import { checkArguments } from "./check.ts";
import { choice, flag, object, someTexts, text, whole } from "./schema.ts";

const schema = object(
  { name: text("a name"), kind: choice(["pass", "fail"], "a verdict") },
  {
    count: whole({ min: 1, max: 9 }, "a count"),
    on: flag("a switch"),
    items: someTexts("some"),
    inner: object({ text: text("t") }),
    open: { ...object({}), additionalProperties: true },
  },
);
const good = { name: "a", kind: "pass" };

const problem = (given: unknown): unknown => {
  const checked = checkArguments(schema, given);
  return checked.ok ? "fine" : checked.refusal;
};

test("what fits is handed over as it is", () => {
  const all = { ...good, count: 9, on: false, items: ["x"], inner: { text: "t" }, open: { any: [1, { deep: null }] } };
  expect(checkArguments(schema, all)).toEqual({ ok: true, value: all });
  expect(checkArguments(object({}), undefined)).toEqual({ ok: true, value: {} });
});

test("the first thing wrong is named by its place, with what would be right", () => {
  expect(problem({})).toMatchObject({ field: "name", problem: "is required" });
  expect(problem([])).toMatchObject({ field: "arguments", problem: "must be an object" });
  expect(problem({ ...good, name: "  " })).toMatchObject({ field: "name", problem: "must not be empty" });
  expect(problem({ ...good, name: 7 })).toMatchObject({ field: "name", problem: "must be a text", value: "7" });
  expect(problem({ ...good, kind: "pas" })).toMatchObject({
    field: "kind",
    nearest: "pass",
    allowed: ["pass", "fail"],
  });
  for (const count of [0, 10, 1.5, "3"]) {
    expect(problem({ ...good, count })).toMatchObject({
      field: "count",
      problem: "must be a whole number from 1 to 9",
    });
  }
  expect(problem({ ...good, on: "yes" })).toMatchObject({ field: "on", problem: "must be true or false" });
  expect(problem({ ...good, items: [] })).toMatchObject({ field: "items", problem: "must not be empty" });
  expect(problem({ ...good, items: ["x", 1] })).toMatchObject({ field: "items[1]", problem: "must be a text" });
  expect(problem({ ...good, inner: {} })).toMatchObject({ field: "inner.text", problem: "is required" });
  expect(problem({ ...good, nmae: "x" })).toMatchObject({ field: "nmae", nearest: "name" });
});

test("no key of an object's own machinery is taken for an argument", () => {
  expect(problem(JSON.parse('{"name":"a","kind":"pass","__proto__":{}}'))).toMatchObject({ field: "__proto__" });
  expect(problem({ ...good, constructor: "x" })).toMatchObject({ field: "constructor" });
});

test("whatever is sent, the checker answers", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(typeof checkArguments(schema, value).ok).toBe("boolean");
    }),
  );
});
