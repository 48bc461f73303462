import type { Shape } from "../../domain/name/name.ts";

/** What values a key takes. Both the checker and every explanation are driven by this. */
export type KeyType =
  | { readonly type: "text"; readonly shape?: Shape }
  | { readonly type: "integer"; readonly min: number; readonly max: number }
  | { readonly type: "number"; readonly min: number; readonly max: number }
  | { readonly type: "boolean" }
  | { readonly type: "choice"; readonly choices: readonly string[] }
  | { readonly type: "list of text"; readonly shape?: Shape }
  | { readonly type: "list of records"; readonly fields: Fields };

/** Fields of a record in a list. */
export type Fields = Readonly<Record<string, Field>>;

/**
 * Text that must be there, text that is empty when left out, or a value of another type. Such a value must be written,
 * and a list of them must not be empty, unless there is a default.
 */
export type Field = "required" | "optional" | (FieldType & { readonly default?: unknown });

type FieldType = Extract<KeyType, { readonly type: "integer" | "boolean" | "list of text" }>;

/** A record as it stands in `Config`. */
export type RecordOf<F extends Fields> = { readonly [Name in keyof F]: ValueOfField<F[Name]> };

type ValueOfField<F extends Field> = F extends { readonly type: "integer" }
  ? number
  : F extends { readonly type: "boolean" }
    ? boolean
    : F extends { readonly type: "list of text" }
      ? readonly string[]
      : string;

/**
 * One key of the configuration. `T` is the type its value has in `Config`. A `*` in the key's path stands for a name
 * the user chooses; `entries` are the names that exist without being written.
 */
export type KeySpec<T = unknown> = KeyType & {
  readonly doc: string;
  readonly default: T;
  readonly entries?: Readonly<Record<string, T>>;
  /** Says in words what the default is when it depends on the project. */
  readonly defaultIs?: string;
};

interface About<T> {
  readonly doc: string;
  readonly default: T;
}

type Optional<T> = Omit<About<T>, "default"> & { readonly entries?: Readonly<Record<string, T>> };

export const text = (
  about: About<string> & { readonly shape?: Shape; readonly defaultIs?: string },
): KeySpec<string> => ({
  type: "text",
  ...about,
});

export const optionalText = (about: Optional<string> & { readonly shape?: Shape }): KeySpec<string | undefined> => ({
  type: "text",
  default: undefined,
  ...about,
});

export const integer = (about: About<number> & { readonly min?: number; readonly max?: number }): KeySpec<number> => ({
  type: "integer",
  min: 0,
  max: Number.MAX_SAFE_INTEGER,
  ...about,
});

/** Decimals are allowed. */
export const number = (about: About<number> & { readonly min?: number; readonly max: number }): KeySpec<number> => ({
  type: "number",
  min: 0,
  ...about,
});

/** Timers take at most 31 bits of milliseconds; anything longer would fire at once. */
export const milliseconds = (
  about: About<number> & { readonly min?: number; readonly max?: number },
): KeySpec<number> => ({ type: "integer", min: 0, max: 2 ** 31 - 1, ...about });

export const boolean = (about: About<boolean>): KeySpec<boolean> => ({ type: "boolean", ...about });

export const optionalBoolean = (about: Optional<boolean>): KeySpec<boolean | undefined> => ({
  type: "boolean",
  default: undefined,
  ...about,
});

export const choice = <const C extends string>(
  choices: readonly C[],
  about: About<NoInfer<C>> & { readonly entries?: Readonly<Record<string, NoInfer<C>>> },
): KeySpec<C> => ({ type: "choice", choices, ...about });

export const texts = (about: About<readonly string[]> & { readonly shape?: Shape }): KeySpec<readonly string[]> => ({
  type: "list of text",
  ...about,
});

export const records = <const F extends Fields>(
  fields: F,
  about: About<readonly RecordOf<F>[]>,
): KeySpec<readonly RecordOf<F>[]> => ({ type: "list of records", fields, ...about });

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
