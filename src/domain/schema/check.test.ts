import { expect, test } from "bun:test";
import fc from "fast-check";
import { bounds, checkArguments, requestProblem } from "./check.ts";
import { anything, either, fields, flag, list, noFields, object, orNull, record, type Schema, text } from "./schema.ts";

const nonEmpty: Schema = { type: "string", minLength: 1 };
const schema = object(
  { name: nonEmpty, kind: { type: "string", enum: ["pass", "fail"] } },
  {
    count: { type: "integer", minimum: 1, maximum: 9 },
    on: flag,
    items: { type: "array", items: nonEmpty, minItems: 1 },
    inner: object({ text: nonEmpty }),
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

test("a request that may be null says so, and undefined counts as left out", () => {
  const request = fields<{ readonly note: string | null; readonly more?: string | undefined }>(
    { note: orNull(text) },
    { more: text },
  );
  expect(requestProblem(request, { note: null })).toBeUndefined();
  expect(requestProblem(request, { note: "x", more: undefined })).toBeUndefined();
  expect(requestProblem(request, { note: 7 })).toMatchObject({ field: "note", problem: "must be a text or null" });
  expect(requestProblem(request, { note: undefined })).toMatchObject({ field: "note", problem: "is required" });
  expect(requestProblem(request, { note: null, more: null })).toMatchObject({ field: "more" });
  expect(requestProblem(request, "note")).toMatchObject({ field: "request", problem: "must be an object" });
  expect(requestProblem(noFields, { a: 1 })).toMatchObject({ field: "a", problem: "is not known here" });
});

test("where a request has one of two forms, the form with most of its keys says what is wrong", () => {
  const request = either(
    fields<{ readonly of: string }>({ of: text }),
    fields<{ readonly id: string; readonly names: readonly string[] }>({ id: text, names: list(text) }),
  );
  expect(requestProblem(request, { of: "a" })).toBeUndefined();
  expect(requestProblem(request, { id: "a", names: [] })).toBeUndefined();
  expect(requestProblem(request, { id: "a", names: [1] })).toMatchObject({ field: "names[0]" });
  expect(requestProblem(request, { of: "a", id: "b" })).toMatchObject({ field: "id", problem: "is not known here" });
  expect(requestProblem(request, null)).toMatchObject({ field: "request", problem: "must be an object" });
});

test("texts, lists and depth are bounded, also where any value is allowed", () => {
  const request = fields<{ readonly data: Readonly<Record<string, unknown>> }>({ data: record(anything) });
  const problem = (data: unknown) => requestProblem(request, { data });
  const deep = (levels: number): unknown => (levels === 0 ? "end" : [deep(levels - 1)]);
  expect(problem({ a: deep(20), b: null, c: 1 })).toBeUndefined();
  expect(problem({ a: deep(bounds.depth + 1) })?.problem).toBe(`is nested deeper than ${bounds.depth} levels`);
  expect(problem({ a: Array(bounds.items + 1).fill(0) })).toMatchObject({ field: "data.a" });
  expect(problem({ a: "x".repeat(bounds.textCharacters + 1) })).toMatchObject({ field: "data.a" });
  expect(requestProblem(text, "x".repeat(bounds.textCharacters + 1))?.value).toBeUndefined();
});
