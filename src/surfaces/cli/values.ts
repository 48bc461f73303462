import { nearest } from "../../domain/name/nearest.ts";
import { jsonProblem } from "../../domain/text/json-problem.ts";
import type { Argument, Flag, FlagValue } from "./command.ts";

/** Why a value cannot be used; becomes a `bad-value` problem. */
export interface BadValue {
  readonly problem: string;
  readonly allowed?: readonly string[];
  readonly nearest?: string;
}

export type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly bad: BadValue };

/** Reads one value as its flag declares it. */
export function flagValue(flag: Flag, raw: string): Checked<FlagValue> {
  switch (flag.type ?? "text") {
    case "integer":
      return integer(flag, raw);
    case "list":
      return list(flag, raw);
    case "texts":
      return raw.trim() === "" ? wrong("must not be empty") : good([raw.trim()]);
    case "json":
      return json(raw);
    case "text":
      return chosen(flag.choices, raw);
  }
}

/** Checks one argument against its choices. */
export const argumentValue = (argument: Argument, raw: string): Checked<string> => chosen(argument.choices, raw);

/** A decimal number such as -5 or 0.5, which may stand where a flag could. */
export function isNumber(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 48 && last <= 57 && Number.isFinite(Number(text));
}

const good = <T>(value: T): Checked<T> => ({ ok: true, value });
const wrong = (problem: string, extra: Omit<BadValue, "problem"> = {}): Checked<never> => ({
  ok: false,
  bad: { problem, ...extra },
});

function integer({ min }: Flag, raw: string): Checked<number> {
  const value = isDigits(raw) ? Number(raw) : Number.NaN;
  if (!Number.isSafeInteger(value)) return wrong("must be a whole number");
  if (min !== undefined && value < min) return wrong(`must be ${min} or more`);
  return good(value);
}

/** `Number` alone would also read "", " 5", "0x10" and "1e3". */
function isDigits(raw: string): boolean {
  const start = raw.charCodeAt(0) === 45 ? 1 : 0;
  for (let i = start; i < raw.length; i++) {
    const code = raw.charCodeAt(i);
    if (code < 48 || code > 57) return false;
  }
  return raw.length > start;
}

function list({ choices }: Flag, raw: string): Checked<readonly string[]> {
  const items: string[] = [];
  for (const part of raw.split(",")) {
    const item = part.trim();
    if (item === "") continue;
    const checked = chosen(choices, item);
    if (!checked.ok) return checked;
    items.push(item);
  }
  return good(items);
}

function chosen(choices: readonly string[] | undefined, raw: string): Checked<string> {
  if (choices === undefined || choices.includes(raw)) return good(raw);
  const close = nearest(raw, choices);
  return wrong(`must be one of ${choices.join(", ")}`, {
    allowed: choices,
    ...(close === undefined ? {} : { nearest: close }),
  });
}

function json(raw: string): Checked<string> {
  try {
    JSON.parse(raw);
    return good(raw);
  } catch {
    return wrong(`must be valid JSON: ${jsonProblem(raw) ?? "it is nested too deeply"}`);
  }
}
