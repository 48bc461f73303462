/** The part of JSON Schema that tools need. Plain data: it is sent to agents as it stands, and checked by `check.ts`. */
export type Schema = TextSchema | NumberSchema | FlagSchema | ListSchema | ObjectSchema | AnySchema;

interface Described {
  readonly description?: string;
}

export interface TextSchema extends Described {
  readonly type: "string";
  readonly enum?: readonly string[];
  readonly minLength?: number;
}

export interface NumberSchema extends Described {
  readonly type: "integer";
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface FlagSchema extends Described {
  readonly type: "boolean";
}

export interface ListSchema extends Described {
  readonly type: "array";
  readonly items: Schema;
  readonly minItems?: number;
}

export interface ObjectSchema extends Described {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
  readonly additionalProperties: boolean;
}

/** Any JSON value: what it must be is decided by the use case. */
export interface AnySchema extends Described {
  readonly type?: never;
}

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

/** An object with exactly these keys; those in `optional` may be left out. */
export const object = (
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): ObjectSchema => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});
