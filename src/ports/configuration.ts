import type { InvalidInput, Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";
import type { Settings } from "./settings.ts";

/** Something wrong with the settings, or worth a warning. */
export interface ConfigProblem {
  /** Relative to the project; for the environment the name of the variable. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly key: string;
  readonly message: string;
  readonly nearest?: string;
}

/** One key: what it means, what it is now, and which source decides it. */
export interface ConfigKey {
  readonly key: string;
  readonly value: unknown;
  readonly default: unknown;
  /** The default in words, where it depends on the project. */
  readonly defaultIs?: string;
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
  readonly after: ConfigKey;
  /** False when another source overrules what was written. */
  readonly inForce: boolean;
}

/** What the files alone say: a variable of this shell is not a property of the project. */
export interface FileSettings extends Pick<Settings, "agents" | "runtime" | "merge"> {
  readonly project: Omit<Settings["project"], "qualityGates"> & {
    readonly qualityGates: readonly { readonly name: string; readonly command: string; readonly description: string }[];
  };
  /** The file that the gates are from; undefined when no file names any. */
  readonly gatesFrom: "config.yaml" | "config.local.yaml" | undefined;
}

/** The settings of a project as this environment sees them. Always read from the sources, never from a compiled copy. */
export interface Configuration {
  /** The project's own file is there. */
  isWritten(): boolean;
  /** Throws `config-invalid` while there are problems, unless defaults may stand in for what is broken. */
  ofFiles(options?: { readonly evenBroken: boolean }): Promise<FileSettings>;
  /** The value of a key as a person would write it: without fields that only say what is so anyway. */
  asWritten(key: "project.qualityGates", value: unknown): unknown;
  /** Every key, those of a section only when one is given. While there are problems, defaults stand in for some values. */
  list(section: string | undefined): Promise<readonly ConfigKey[]>;
  /** The names that `list` takes. */
  sections(): ReadonlySet<string>;
  /** One key, as well as it can while there are problems. */
  explain(key: string): Promise<Result<ConfigKey, InvalidInput>>;
  /** The value of one key. Throws `config-invalid` while there are problems. */
  get(key: string): Promise<Result<unknown, InvalidInput>>;
  problems(): Promise<{ readonly problems: readonly ConfigProblem[]; readonly warnings: readonly ConfigProblem[] }>;
  /**
   * Sets one key in the project's file, or in this machine's own. Nothing is written that would give the settings a
   * problem they do not have now, and no edit that another program makes meanwhile is lost.
   */
  set(key: string, typed: string, options: { readonly local: boolean }): Promise<Result<ConfigChange, Refusal>>;
}
