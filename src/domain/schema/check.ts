import { nearest } from "../name/nearest.ts";
import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import type { ChoiceSchema, ListSchema, NumberSchema, ObjectSchema, Schema, TextSchema } from "./schema.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The arguments of a tool call, or the first thing wrong with them in words an agent can act on. */
export function checkArguments(schema: ObjectSchema, given: unknown): Result<Fields, InvalidInput> {
  const value = given ?? {};
  const problem = problemOf(schema, value, "", 0);
  if (problem === undefined && isFields(value)) return ok(value);
  return no(named(problem ?? invalid("", "must be an object"), "arguments"));
}

/** The first thing wrong with a request that came from another process; undefined when it fits. */
export function requestProblem(schema: Schema, request: unknown): InvalidInput | undefined {
  const problem = problemOf(schema, request, "", 0);
  return problem === undefined ? undefined : named(problem, "request");
}

/**
 * Bounds of every value, under every schema. The longest texts are the three sides of a file to merge, 5 MiB each; the
 * longest lists name branches and tasks.
 */
export const bounds = { textCharacters: 8 * 2 ** 20, items: 10_000, depth: 32 } as const;

/** The value at the top has no name of its own. */
const named = (problem: InvalidInput, top: string): InvalidInput =>
  problem.field === "" ? { ...problem, field: top } : problem;

function problemOf(schema: Schema, value: unknown, path: string, depth: number): InvalidInput | undefined {
  switch (schema.type) {
    case undefined:
      return schema.anyOf === undefined
        ? sizeProblem(value, path, depth)
        : choiceProblem(schema as ChoiceSchema, value, path, depth);
    case "null":
      return value === null ? undefined : invalid(path, "must be null", shown(value));
    case "string":
      return textProblem(schema, value, path);
    case "integer":
    case "number":
      return numberProblem(schema, value, path);
    case "boolean":
      return typeof value === "boolean" ? undefined : invalid(path, "must be true or false", shown(value));
    case "array":
      return listProblem(schema, value, path, depth);
    case "object":
      return objectProblem(schema, value, path, depth);
  }
}

/** The problem of the branch that fits best: the one that knows most of the keys. */
function choiceProblem({ anyOf }: ChoiceSchema, value: unknown, path: string, depth: number): InvalidInput | undefined {
  const problems: InvalidInput[] = [];
  for (const schema of anyOf) {
    const problem = problemOf(schema, value, path, depth);
    if (problem === undefined) return undefined;
    problems.push(problem);
  }
  if (isFields(value)) {
    const keys = Object.keys(value);
    const known = anyOf.map((schema) =>
      schema.type === "object" ? keys.filter((key) => Object.hasOwn(schema.properties, key)).length : -1,
    );
    const best = known.indexOf(Math.max(...known));
    if (best >= 0 && known[best] !== -1) return problems[best];
  }
  const inside = problems.find(({ field }) => field !== path);
  if (inside !== undefined) return inside;
  const words = [...new Set(problems.map(({ problem }) => problem))];
  return invalid(path, words.join(" or ").replaceAll(" or must be ", " or "), shown(value));
}

function textProblem(schema: TextSchema, value: unknown, path: string): InvalidInput | undefined {
  if (typeof value !== "string") return invalid(path, "must be a text", shown(value));
  if (value.length > bounds.textCharacters) {
    return invalid(path, `must have ${bounds.textCharacters} characters at most`);
  }
  if (schema.minLength !== undefined && value.trim().length < schema.minLength) {
    return invalid(path, "must not be empty");
  }
  if (schema.enum === undefined || schema.enum.includes(value)) return undefined;
  const near = nearest(value.slice(0, shownLength), schema.enum);
  const extra = { value: value.slice(0, shownLength), allowed: schema.enum };
  return invalid(path, "is not one of the allowed values", near === undefined ? extra : { ...extra, nearest: near });
}

function numberProblem(schema: NumberSchema, value: unknown, path: string): InvalidInput | undefined {
  const { type, minimum, maximum } = schema;
  const isNumber =
    typeof value === "number" && (type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value));
  if (isNumber && value >= (minimum ?? value) && value <= (maximum ?? value)) return undefined;
  const kind = type === "integer" ? "a whole number" : "a number";
  const from = minimum === undefined ? "" : ` from ${minimum}`;
  const to = maximum === undefined ? "" : ` to ${maximum}`;
  return invalid(path, `must be ${kind}${from}${to}`, shown(value));
}

function listProblem(schema: ListSchema, value: unknown, path: string, depth: number): InvalidInput | undefined {
  if (!Array.isArray(value)) return invalid(path, "must be a list", shown(value));
  if (value.length < (schema.minItems ?? 0)) return invalid(path, "must not be empty");
  return (
    tooMany(value.length, path, depth) ??
    first(value.entries(), ([at, item]) => problemOf(schema.items, item, `${path}[${at}]`, depth + 1))
  );
}

function objectProblem(schema: ObjectSchema, value: unknown, path: string, depth: number): InvalidInput | undefined {
  if (!isFields(value)) return invalid(path, "must be an object", shown(value));
  const inside = (key: string): string => (path === "" ? key : `${path}.${key}`);
  const missing = schema.required.find((key) => !Object.hasOwn(value, key) || value[key] === undefined);
  if (missing !== undefined) return invalid(inside(missing), "is required");
  const { additionalProperties: others, properties } = schema;
  const entries = Object.entries(value);
  return (
    tooMany(entries.length, path, depth) ??
    first(entries, ([key, item]) => {
      if (item === undefined) return undefined;
      if (Object.hasOwn(properties, key)) return problemOf(properties[key] ?? {}, item, inside(key), depth + 1);
      if (others === false) return unknownKey(schema, key, inside(key));
      return problemOf(others === true ? {} : others, item, inside(key), depth + 1);
    })
  );
}

/** A value without a schema is bounded too. */
function sizeProblem(value: unknown, path: string, depth: number): InvalidInput | undefined {
  if (typeof value === "string") return textProblem({ type: "string" }, value, path);
  if (typeof value !== "object" || value === null) return undefined;
  const items = Object.entries(value);
  const at = (key: string): string => (Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`);
  return (
    tooMany(items.length, path, depth) ??
    first(items, ([key, item]) => sizeProblem(item, path === "" ? key : at(key), depth + 1))
  );
}

function tooMany(items: number, path: string, depth: number): InvalidInput | undefined {
  if (depth > bounds.depth) return invalid(path, `is nested deeper than ${bounds.depth} levels`);
  return items > bounds.items ? invalid(path, `must have ${bounds.items} entries at most`) : undefined;
}

function unknownKey({ properties }: ObjectSchema, key: string, path: string): InvalidInput {
  const names = Object.keys(properties);
  const near = nearest(key.slice(0, shownLength), names);
  return invalid(
    path.slice(0, longestName),
    "is not known here",
    near === undefined ? { allowed: names } : { nearest: near },
  );
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
const longestName = 200;
const shown = (value: unknown): { readonly value: string } => ({
  value: (JSON.stringify(value) ?? "nothing").slice(0, shownLength),
});
