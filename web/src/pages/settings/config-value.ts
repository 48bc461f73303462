import type { ConfigKey } from "../../api/types.ts";

/** A value as a person types it: text as it is, everything else as JSON. */
export const typedOf = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** What is wrong with a typed value, as far as its kind tells; undefined when nothing is. The server checks the rest. */
export function problemOf(key: ConfigKey, typed: string): string | undefined {
  const text = typed.trim();
  switch (key.type) {
    case "integer":
    case "number": {
      const value = Number(text);
      if (text === "" || Number.isNaN(value)) return "must be a number";
      if (key.type === "integer" && !Number.isInteger(value)) return "must be a whole number";
      if (key.min !== undefined && value < key.min) return `must be at least ${key.min}`;
      return key.max !== undefined && value > key.max ? `must be at most ${key.max}` : undefined;
    }
    case "boolean":
      return text === "true" || text === "false" ? undefined : "must be true or false";
    case "choice":
      return key.choices?.includes(text) === false ? `must be one of ${key.choices.join(", ")}` : undefined;
    default:
      return undefined;
  }
}

/** The range of a key in few words; its whole sentence is `takes`. */
export function rangeOf({ type, min, max, takes }: ConfigKey): string {
  if (type !== "integer" && type !== "number") return takes;
  const unit = type === "integer" ? "whole number" : "number";
  if (min !== undefined && max !== undefined) return `${unit}, ${min} to ${max}`;
  return min !== undefined ? `${unit}, at least ${min}` : unit;
}

export const defaultOf = ({ default: value, defaultIs }: ConfigKey): string => {
  if (defaultIs !== undefined) return defaultIs;
  const typed = typedOf(value);
  return typed === "" ? "not set" : typed;
};
