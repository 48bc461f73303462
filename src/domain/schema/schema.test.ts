import { expect, test } from "bun:test";
import {
  anything,
  either,
  fields,
  list,
  noFields,
  notSent,
  oneOf,
  orNull,
  record,
  type SchemaOf,
  text,
  whole,
} from "./schema.ts";

interface Operation<Request> {
  readonly request: SchemaOf<Request>;
}

interface Everything {
  readonly name: string;
  readonly limit?: number;
  readonly note: string | undefined;
  readonly kind: "a" | "b";
  readonly parts: readonly { readonly id: string }[];
  readonly parent?: string | null | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly file?: string;
}

test("the fields of a request become a schema of plain data", () => {
  const operation: Operation<Everything> = {
    request: fields(
      {
        name: text,
        kind: oneOf(["a", "b"]),
        parts: list(fields({ id: text })),
        environment: record(text),
        payload: record(anything),
      },
      { limit: whole, note: text, parent: orNull(text), file: notSent },
    ),
  };
  expect(JSON.parse(JSON.stringify(operation.request))).toEqual({
    type: "object",
    properties: {
      name: { type: "string" },
      kind: { type: "string", enum: ["a", "b"] },
      parts: {
        type: "array",
        items: {
          type: "object",
          properties: { id: { type: "string" } },
          required: ["id"],
          additionalProperties: false,
        },
      },
      environment: { type: "object", properties: {}, required: [], additionalProperties: { type: "string" } },
      payload: { type: "object", properties: {}, required: [], additionalProperties: {} },
      limit: { type: "integer" },
      note: { type: "string" },
      parent: { anyOf: [{ type: "string" }, { type: "null" }] },
    },
    required: ["name", "kind", "parts", "environment", "payload"],
    additionalProperties: false,
  });
});

type Of = { readonly of: string };
type Either = Of | { readonly id: number };

/** `npm run check` fails when the compiler accepts one of these. */
test("the compiler refuses a schema that does not fit the type of the request", () => {
  const fitting: [Operation<object>, Operation<Either>] = [
    { request: noFields },
    { request: either(fields<Of>({ of: text }), fields<{ readonly id: number }>({ id: whole })) },
  ];
  // @ts-expect-error: the type of a field differs
  const otherType: Operation<Of> = { request: fields({ of: whole }) };
  // @ts-expect-error: a field is missing
  const missing: Operation<Of & { readonly id: number }> = { request: fields({ of: text }) };
  // @ts-expect-error: the type knows no such field
  const unknownField: Operation<Of> = { request: fields({ of: text, id: whole }) };
  // @ts-expect-error: a field that may be left out is missing
  const missingOptional: Operation<{ readonly of?: string }> = { request: fields({}) };
  // @ts-expect-error: a value of the type is missing
  const tooNarrow: Operation<{ readonly kind: "a" | "b" }> = { request: fields({ kind: oneOf(["a"]) }) };
  // @ts-expect-error: values that the type does not know would pass
  const tooWide: Operation<{ readonly kind: "a" | "b" }> = { request: fields({ kind: text }) };
  // @ts-expect-error: null would be refused
  const noNull: Operation<{ readonly of: string | null }> = { request: fields({ of: text }) };
  // @ts-expect-error: the fields of a union are not the ones its members share
  const union: Operation<Either> = { request: fields({}) };
  // @ts-expect-error: one form of two is missing
  const half: Operation<Either> = { request: fields<Of>({ of: text }) };
  const refused = [otherType, missing, unknownField, missingOptional, tooNarrow, tooWide, noNull, union, half];
  expect([fitting.length, refused.length]).toEqual([2, 9]);
});
