import { agentName } from "../name/name.ts";
import { no, ok, type Result } from "../result.ts";
import type { EarlierValues } from "./earlier-project.ts";

/** Thrown by a reader of a column and turned into a value at once: twenty columns, one way out. */
class Unreadable extends Error {}

/** Converts a row, or says why that cannot be: the problem completes the sentence "`<row>` ...". */
export function converted<T>(convert: () => T): Result<T, string> {
  try {
    return ok(convert());
  } catch (error) {
    if (error instanceof Unreadable) return no(error.message);
    throw error;
  }
}

export function unreadable(problem: string): never {
  throw new Unreadable(problem);
}

export function textOf(values: EarlierValues, column: string): string {
  return textIn(values, column) ?? unreadable(`has no ${column}`);
}

/** Null where there is none, or an empty one. */
export function textIn(values: EarlierValues, column: string): string | null {
  const value = values[column] ?? null;
  if (value === null || value === "") return null;
  return typeof value === "string" ? value : unreadable(`has no text as ${column}`);
}

/** Older files call the task a bead. */
export const taskIn = (values: EarlierValues): string | null => textIn(values, "task_id") ?? textIn(values, "bead_id");

export function nameOf(values: EarlierValues, column: string): string {
  const name = textOf(values, column);
  return agentName(name).ok
    ? name
    : unreadable(`has a name that no agent can have as ${column}: ${JSON.stringify(name)}`);
}

/** Whole and not negative; 0 where there is none. */
export function countIn(values: EarlierValues, column: string): number {
  const value = values[column] ?? 0;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  return unreadable(`has no whole number as ${column}`);
}

export function timeOf(values: EarlierValues, column: string): number {
  return timeIn(values, column) ?? unreadable(`has no ${column}`);
}

/** Times without a zone are UTC: SQLite wrote them so. */
export function timeIn(values: EarlierValues, column: string): number | null {
  const written = textIn(values, column);
  if (written === null) return null;
  const hasZone = /(?:[zZ]|[+-]\d\d:?\d\d)$/.test(written);
  const at = Date.parse(hasZone || !written.includes(":") ? written : `${written.replace(" ", "T")}Z`);
  return Number.isNaN(at) ? unreadable(`has no time as ${column}: ${JSON.stringify(written)}`) : at;
}

export function textsIn(values: EarlierValues, column: string): readonly string[] {
  const value = values[column] ?? [];
  const isTexts = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isTexts ? value : unreadable(`has no list of texts as ${column}`);
}

/** JSON in a column; undefined where it is no JSON. */
export function jsonIn(values: EarlierValues, column: string): unknown {
  const written = textIn(values, column);
  if (written === null) return null;
  try {
    return JSON.parse(written);
  } catch {
    return undefined;
  }
}

export const oneOf = <const V extends string>(known: readonly V[], found: string | null): V | undefined =>
  known.find((value) => value === found);
