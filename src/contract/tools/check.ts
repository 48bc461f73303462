import { nearest } from "../../domain/name/nearest.ts";
import { type InvalidInput, invalid } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { NumberSchema, ObjectSchema, Schema, TextSchema } from "./schema.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The arguments of a tool call, or the first thing wrong with them in words an agent can act on. */
export function checkArguments(schema: ObjectSchema, given: unknown): Result<Fields, InvalidInput> {
  const value = given ?? {};
  const problem = problemOf(schema, value, "arguments");
  return problem === undefined && isFields(value)
    ? ok(value)
    : no(problem ?? invalid("arguments", "must be an object"));
}

function problemOf(schema: Schema, value: unknown, path: string): InvalidInput | undefined {
  switch (schema.type) {
    case undefined:
      return undefined;
    case "string":
      return textProblem(schema, value, path);
    case "integer":
      return numberProblem(schema, value, path);
    case "boolean":
      return typeof value === "boolean" ? undefined : invalid(path, "must be true or false", shown(value));
    case "array": {
      if (!Array.isArray(value)) return invalid(path, "must be a list", shown(value));
      if (value.length < (schema.minItems ?? 0)) return invalid(path, "must not be empty");
      return first(value.entries(), ([at, item]) => problemOf(schema.items, item, `${path}[${at}]`));
    }
    case "object":
      return objectProblem(schema, value, path);
  }
}

function textProblem(schema: TextSchema, value: unknown, path: string): InvalidInput | undefined {
  if (typeof value !== "string") return invalid(path, "must be a text", shown(value));
  if (schema.minLength !== undefined && value.trim().length < schema.minLength) {
    return invalid(path, "must not be empty");
  }
  if (schema.enum === undefined || schema.enum.includes(value)) return undefined;
  const near = nearest(value, schema.enum);
  const extra = { value, allowed: schema.enum };
  return invalid(path, "is not one of the allowed values", near === undefined ? extra : { ...extra, nearest: near });
}

function numberProblem({ minimum, maximum }: NumberSchema, value: unknown, path: string): InvalidInput | undefined {
  const isWhole = typeof value === "number" && Number.isInteger(value);
  if (isWhole && value >= (minimum ?? value) && value <= (maximum ?? value)) return undefined;
  const from = minimum === undefined ? "" : ` from ${minimum}`;
  const to = maximum === undefined ? "" : ` to ${maximum}`;
  return invalid(path, `must be a whole number${from}${to}`, shown(value));
}

function objectProblem(schema: ObjectSchema, value: unknown, path: string): InvalidInput | undefined {
  if (!isFields(value)) return invalid(path, "must be an object", shown(value));
  const inside = (key: string): string => (path === "arguments" ? key : `${path}.${key}`);
  const missing = schema.required.find((key) => value[key] === undefined);
  if (missing !== undefined) return invalid(inside(missing), "is required");
  return first(Object.entries(value), ([key, item]) => {
    const known = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
    if (known !== undefined) return item === undefined ? undefined : problemOf(known, item, inside(key));
    return schema.additionalProperties ? undefined : unknownKey(schema, key, inside(key));
  });
}

function unknownKey({ properties }: ObjectSchema, key: string, path: string): InvalidInput {
  const names = Object.keys(properties);
  const near = nearest(key, names);
  return invalid(path, "is not known here", near === undefined ? { allowed: names } : { nearest: near });
}

function first<T>(items: Iterable<T>, find: (item: T) => InvalidInput | undefined): InvalidInput | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const shownLength = 80;
const shown = (value: unknown): { readonly value: string } => ({
  value: (JSON.stringify(value) ?? "nothing").slice(0, shownLength),
});
