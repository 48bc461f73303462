/**
 * The part of JSON Schema that requests and tools need. Plain data: tool lists send it to agents as it stands, and
 * `check.ts` compares values with it.
 */
export type Schema =
  | TextSchema
  | NumberSchema
  | FlagSchema
  | NullSchema
  | ListSchema
  | ObjectSchema
  | ChoiceSchema
  | AnySchema;

interface Described {
  readonly description?: string;
}

export interface TextSchema extends Described {
  readonly type: "string";
  readonly enum?: readonly string[];
  readonly minLength?: number;
}

export interface NumberSchema extends Described {
  readonly type: "integer" | "number";
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface FlagSchema extends Described {
  readonly type: "boolean";
}

interface NullSchema extends Described {
  readonly type: "null";
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
  /** What other keys may hold; `false` where there may be no others. */
  readonly additionalProperties: boolean | Schema;
}

/** A value that fits one of these. */
export interface ChoiceSchema extends Described {
  readonly type?: never;
  readonly anyOf: readonly Schema[];
}

/** Any JSON value. The operation checks it further. */
export interface AnySchema extends Described {
  readonly type?: never;
  readonly anyOf?: never;
}

/** An object with exactly these keys. The keys in `optional` may be left out. */
export const object = (
  required: Readonly<Record<string, Schema>>,
  optional: Readonly<Record<string, Schema>> = {},
): ObjectSchema => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false,
});

declare const fits: unique symbol;

/**
 * A schema for values of exactly this type. The compiler refuses a schema that accepts more or less than the type does,
 * and one that lacks a key. JSON drops `undefined`: a key whose value may be undefined is one that may be left out.
 */
export type SchemaOf<T> = Schema & { readonly [fits]?: (value: T) => T };

export const text: SchemaOf<string> = { type: "string" };
export const flag: SchemaOf<boolean> = { type: "boolean" };
export const whole: SchemaOf<number> = { type: "integer" };
export const decimal: SchemaOf<number> = { type: "number" };
export const anything: SchemaOf<unknown> = {};

export const oneOf = <const V extends string>(values: readonly V[]): SchemaOf<V> => ({ type: "string", enum: values });

export const list = <Item>(items: SchemaOf<Item>): SchemaOf<readonly Item[]> => ({ type: "array", items });

/** An object with any keys, whose values fit. */
export const record = <Value>(values: SchemaOf<Value>): SchemaOf<Readonly<Record<string, Value>>> => ({
  type: "object",
  properties: {},
  required: [],
  additionalProperties: values,
});

export const orNull = <T>(schema: SchemaOf<T>): SchemaOf<T | null> => ({ anyOf: [schema, { type: "null" }] });

export const either = <A, B>(a: SchemaOf<A>, b: SchemaOf<B>): SchemaOf<A | B> => ({ anyOf: [a, b] });

/** For a field that the program sets itself, after the request has arrived. A caller that sends it is refused. */
export const notSent = null;

/** The fields of a request: those it must have, and those it may have. */
export function fields<Request>(
  required: IsUnion<Request> extends true ? never : Required<Request>,
  ...[optional]: [OptionalKey<Request>] extends [never] ? [] : [optional: Optional<Request>]
): SchemaOf<Request> {
  const sent: Record<string, Schema> = {};
  for (const [name, schema] of Object.entries<Schema | null>(optional ?? {}))
    if (schema !== notSent) sent[name] = schema;
  return object(required, sent);
}

/** The fields that have a value: in a request, a key that is left out is missing, not undefined. */
export const withValues = <T extends object>(all: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never;

/** The request of an operation that needs to be told nothing. */
export const noFields: SchemaOf<object> = object({});

type OptionalKey<R> = { [K in keyof R]-?: undefined extends R[K] ? K : never }[keyof R];
type Required<R> = { readonly [K in Exclude<keyof R, OptionalKey<R>>]: SchemaOf<R[K]> };
type Optional<R> = { readonly [K in OptionalKey<R>]: SchemaOf<Exclude<R[K], undefined>> | null };
/** The keys of a union are those its members share: a union needs `either`. */
type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never;
