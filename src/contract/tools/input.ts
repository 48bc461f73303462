import type { FlagSchema, ListSchema, NumberSchema, TextSchema } from "../../domain/schema/schema.ts";

/** A text that must say something. */
export const text = (description: string): TextSchema => ({ type: "string", minLength: 1, description });

/** A text that may be empty, for instance to empty a field. */
export const anyText = (description: string): TextSchema => ({ type: "string", description });

export const choice = (values: readonly string[], description: string): TextSchema => ({
  type: "string",
  enum: values,
  description,
});

export const whole = (range: { readonly min?: number; readonly max?: number }, description: string): NumberSchema => ({
  type: "integer",
  ...(range.min === undefined ? {} : { minimum: range.min }),
  ...(range.max === undefined ? {} : { maximum: range.max }),
  description,
});

export const flag = (description: string): FlagSchema => ({ type: "boolean", description });

export const texts = (description: string): ListSchema => ({ type: "array", items: { type: "string" }, description });

export const someTexts = (description: string): ListSchema => ({
  type: "array",
  items: { type: "string", minLength: 1 },
  minItems: 1,
  description,
});
