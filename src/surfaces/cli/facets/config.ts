import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

export interface ConfigProblemView {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly key: string;
  readonly message: string;
  readonly nearest?: string;
}

/** One key: what it means, what it is now, and who said so. */
export interface ConfigKeyView {
  readonly key: string;
  readonly value: unknown;
  readonly default: unknown;
  /** The default in words, where it depends on the project. */
  readonly defaultIs?: string;
  /** The part of the program that will use it; until then it is accepted and does nothing. */
  readonly later?: string;
  readonly type: string;
  /** What it takes, in words: "a whole number of at least 1". */
  readonly takes: string;
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly doc: string;
  /** `default`, or the file and line, or the variable that decides. */
  readonly origin: string;
  /** The environment variable that overrides it. */
  readonly variable: string;
}

export interface ConfigChange {
  /** Relative to the project. */
  readonly file: string;
  readonly before: unknown;
  /** What counts now. Another source may still overrule what was written: see `origin`. */
  readonly after: ConfigKeyView;
  /** False when another source overrules what was written. */
  readonly inForce: boolean;
}

/** The configuration of the project, for `ov config`. */
export interface ConfigFacet {
  get(key: string): Promise<Result<unknown, Refusal>>;
  /** Edits the project's file, or the machine's own with `local`. What does not fit is refused and changes nothing. */
  set(key: string, value: string, options: { readonly local: boolean }): Promise<Result<ConfigChange, Refusal>>;
  /** All keys, or those of a section. Works as well as it can when there are problems. */
  list(section: string | undefined): Promise<Result<readonly ConfigKeyView[], Refusal>>;
  explain(key: string): Promise<Result<ConfigKeyView, Refusal>>;
  validate(): Promise<{
    readonly problems: readonly ConfigProblemView[];
    readonly warnings: readonly ConfigProblemView[];
  }>;
}
