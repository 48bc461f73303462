import type { KeyType } from "./schema/key.ts";

/** What a key takes, in words that complete the sentence "must be ...". */
export function describe(rule: KeyType): string {
  switch (rule.type) {
    case "text":
      return rule.shape?.must ?? "text";
    case "integer":
      return `a whole number${range(rule.min, rule.max)}`;
    case "number":
      return `a number${range(rule.min, rule.max)}`;
    case "boolean":
      return "true or false";
    case "choice":
      return `one of ${rule.choices.join(", ")}`;
    case "list of text":
      return "a list of texts";
    case "list of records":
      return `a list of entries with ${Object.keys(rule.fields).join(", ")}`;
  }
}

/** A value as it may appear in a message: short, on one line, without characters that could disturb a terminal. */
export function show(value: unknown): string {
  const words = JSON.stringify(value) ?? String(value);
  return words.length > 60 ? `${words.slice(0, 57)}...` : words;
}

const unbounded = [Number.MAX_SAFE_INTEGER, 2 ** 31 - 1];

function range(min: number, max: number): string {
  return unbounded.includes(max) ? ` of at least ${min}` : ` from ${min} to ${max}`;
}
