import type { Shape } from "../domain/name/name.ts";
import { nearest } from "../domain/name/nearest.ts";
import { jsonProblem } from "../domain/text/json-problem.ts";
import { describe, type Field, type Fields, type KeySpec, type KeyType, show } from "./schema/key.ts";
import { entryOf, type Tree, treeOf } from "./tree.ts";

/** Reports a problem and its place. `within` is appended to the key, such as `[2].command`. */
export type Complain = (at: Tree, message: string, more?: { within?: string; nearest?: string | undefined }) => void;

/** The value a source gives to a key, or undefined after at least one complaint. */
export function readValue(spec: KeySpec, tree: Tree, complain: Complain): { readonly value: unknown } | undefined {
  if (tree.kind === "leaf" && tree.value === null) {
    if (spec.default === undefined) return { value: undefined };
    complain(tree, `has no value; it must be ${describe(spec)}`);
    return undefined;
  }
  switch (spec.type) {
    case "list of text":
      return readTexts(tree, spec.shape, complain);
    case "list of records":
      return readRecords(tree, spec.fields, complain);
    case "text":
      return readText(tree, spec.shape, complain);
    case "choice":
      return readChoice(tree, spec.choices, complain);
    case "boolean":
    case "integer":
    case "number":
      return readPlain(spec, tree, complain);
  }
}

/** A value typed as one text, on the command line or in the environment, in the form the key wants. */
export function treeOfText(spec: KeySpec, typed: string): Tree {
  switch (spec.type) {
    case "text":
    case "choice":
      return treeOf(typed);
    case "boolean":
      return treeOf(/^(true|yes|on|1)$/i.test(typed) ? true : /^(false|no|off|0)$/i.test(typed) ? false : typed);
    case "integer":
    case "number":
      return treeOf(/^[+-]?\d+(\.\d+)?$/.test(typed) ? Number(typed) : typed);
    case "list of text":
      if (!typed.trimStart().startsWith("["))
        return treeOf(
          typed
            .split(",")
            .map((item) => item.trim())
            .filter(Boolean),
        );
      return treeOf(jsonOr(typed));
    case "list of records":
      return treeOf(jsonOr(typed));
  }
}

/** Why a typed JSON value is invalid. Undefined when the value is valid, or does not look like JSON. */
export function jsonProblemOf({ type }: KeySpec, typed: string): string | undefined {
  const isMeant = (type === "list of records" || type === "list of text") && /^\s*[[{]/.test(typed);
  const problem = isMeant ? jsonProblem(typed) : undefined;
  return problem === undefined ? undefined : `is not valid JSON: ${problem}`;
}

/** The value as a person would write it: fields of records that have their default value are left out. */
export function asWritten(spec: KeySpec, value: unknown): unknown {
  if (spec.type !== "list of records" || !Array.isArray(value)) return value;
  return value.map((record: object) =>
    Object.fromEntries(Object.entries(record).filter(([name, given]) => !isDefault(spec.fields[name], given))),
  );
}

const isDefault = (field: Field | undefined, value: unknown): boolean =>
  field !== undefined && JSON.stringify(absent(field)?.value) === JSON.stringify(value);

type PlainType = Extract<KeyType, { readonly type: "boolean" | "integer" | "number" }>;

function readPlain(spec: PlainType, tree: Tree, complain: Complain) {
  const value = tree.kind === "leaf" ? tree.value : undefined;
  if (spec.type === "boolean" && typeof value === "boolean") return { value };
  if (spec.type === "integer" || spec.type === "number") {
    const number =
      typeof value === "string" && /^[+-]?\d+(_\d+)+$/.test(value) ? Number(value.replaceAll("_", "")) : value;
    const counts = spec.type === "integer" ? Number.isSafeInteger(number) : Number.isFinite(number);
    if (counts && Number(number) >= spec.min && Number(number) <= spec.max) return { value: number };
  }
  complain(tree, `must be ${describe(spec)}, not ${words(tree)}`);
  return undefined;
}

function readText(tree: Tree, shape: Shape | undefined, complain: Complain, within = "") {
  if (tree.kind !== "leaf" || typeof tree.value !== "string") {
    const hint = tree.kind === "leaf" && tree.value !== null ? "; put it in quotes" : "";
    complain(tree, `must be text, not ${words(tree)}${hint}`, { within });
    return undefined;
  }
  const value = tree.value;
  if (value.trim() === "") complain(tree, "must not be empty", { within });
  else if (/\p{Cc}/u.test(value))
    complain(tree, `must be one line without control characters, not ${show(value)}`, { within });
  else if (shape !== undefined && !shape.fits(value))
    complain(tree, `must be ${shape.must}, not ${show(value)}`, { within });
  else return { value };
  return undefined;
}

function readChoice(tree: Tree, choices: readonly string[], complain: Complain) {
  const value = tree.kind === "leaf" ? tree.value : undefined;
  if (typeof value === "string" && choices.includes(value)) return { value };
  const close = typeof value === "string" ? nearest(value.toLowerCase(), choices) : undefined;
  complain(tree, `must be one of ${choices.join(", ")}, not ${words(tree)}`, { nearest: close });
  return undefined;
}

function readTexts(tree: Tree, shape: Shape | undefined, complain: Complain) {
  if (tree.kind !== "list") {
    complain(tree, `must be a list of texts, not ${words(tree)}`);
    return undefined;
  }
  const read = tree.items.map((item, i) => readText(item, shape, complain, `[${i}]`));
  const value = read.filter((item) => item !== undefined).map((item) => item.value);
  return value.length === read.length ? { value } : undefined;
}

function readRecords(tree: Tree, fields: Fields, complain: Complain) {
  if (tree.kind !== "list") {
    complain(tree, `must be a list of entries with ${Object.keys(fields).join(", ")}, not ${words(tree)}`);
    return undefined;
  }
  const read = tree.items.map((item, i) => readRecord(item, fields, complain, `[${i}]`));
  const value = read.filter((item) => item !== undefined);
  return value.length === read.length ? { value } : undefined;
}

function readRecord(tree: Tree, fields: Fields, complain: Complain, within: string) {
  if (tree.kind !== "section") {
    complain(tree, `must be an entry with ${Object.keys(fields).join(", ")}, not ${words(tree)}`, { within });
    return undefined;
  }
  const record: Record<string, unknown> = {};
  let sound = true;
  for (const entry of tree.entries) {
    if (Object.hasOwn(fields, entry.key)) continue;
    sound = false;
    complain(entry.value, "is not a known field", {
      within: `${within}.${entry.key}`,
      nearest: nearest(entry.key, Object.keys(fields)),
    });
  }
  for (const [name, field] of Object.entries(fields)) {
    const inside: Complain = (at, message, more = {}) =>
      complain(at, message, { ...more, within: `${within}.${name}${more.within ?? ""}` });
    const given = entryOf(tree, name)?.value;
    const value = given === undefined ? absent(field) : readField(field, given, inside);
    if (value !== undefined) record[name] = value.value;
    else sound = false;
    if (given === undefined && value === undefined) inside(tree, "is missing");
  }
  return sound ? record : undefined;
}

function absent(field: Field): { readonly value: unknown } | undefined {
  if (field === "optional") return { value: "" };
  return field === "required" || field.default === undefined ? undefined : { value: field.default };
}

function readField(field: Field, tree: Tree, complain: Complain): { readonly value: unknown } | undefined {
  const isBare = tree.kind === "leaf" && (tree.value ?? "") === "";
  if (field === "optional" && isBare) return { value: "" };
  if (field === "optional" || field === "required") return readText(tree, undefined, complain);
  if (field.type !== "list of text") return readPlain(field, tree, complain);
  const read = readTexts(tree, field.shape, complain);
  if (read?.value.length !== 0 || field.default !== undefined) return read;
  complain(tree, "must not be empty");
  return undefined;
}

function words(tree: Tree): string {
  if (tree.kind === "list") return "a list";
  if (tree.kind === "section") return "a section";
  return typeof tree.value === "number" ? String(tree.value) : show(tree.value);
}

/** What does not parse stays the text it was, so that the complaint can show it. */
function jsonOr(typed: string): unknown {
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}
