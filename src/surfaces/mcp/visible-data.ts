import { visibleText } from "../../domain/text/visible.ts";

/** The same data with every text made visible: a client may print it on a terminal or put it before a model as it is. */
export function visibleData(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [visibleText(key), visible(item)]));
}

function visible(value: unknown): unknown {
  if (typeof value === "string") return visibleText(value);
  if (Array.isArray(value)) return value.map(visible);
  if (typeof value !== "object" || value === null) return value;
  return visibleData(Object.fromEntries(Object.entries(value)));
}
