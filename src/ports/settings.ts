import type { BrokenRuntime, FileProblem, RuntimeSpec } from "../domain/agent/runtime-spec.ts";
import type { BudgetSettings } from "../domain/budget/budget.ts";
import type { ExitTriggerSettings } from "../domain/coordination/exit-triggers.ts";
import type { Gate } from "../domain/gate/gate.ts";
import type { HealthLimits } from "../domain/health/ladder.ts";
import type { InvalidInput, Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";
import type { TrackerBackend } from "../domain/tracker/tracker.ts";

/** The slices of the configuration that rules and use cases read. `config` gives values of this shape. */
export interface Settings {
  readonly project: {
    readonly name: string;
    readonly canonicalBranch: string;
    readonly defaultProfile?: string | undefined;
    readonly qualityGates: readonly Gate[];
  };
  readonly taskTracker: { readonly backend: TrackerBackend };
  readonly agents: {
    /** Directory of the project's own role texts. */
    readonly baseDir: string;
    readonly maxConcurrent: number;
    readonly staggerDelayMs: number;
    readonly maxDepth: number;
    readonly maxSessionsPerRun: number;
    readonly maxAgentsPerLead: number;
    readonly continuePrompts: number;
    readonly maxRevivals: number;
  };
  readonly mail: {
    readonly wake: Readonly<Record<string, boolean>>;
    readonly coalesceMs: number;
    readonly maxAttempts: number;
    readonly leaseMs: number;
    readonly maxBodyBytes: number;
    readonly hopLimit: number;
    readonly rateLimits: { readonly perMinute: number; readonly broadcastPerMinute: number };
  };
  readonly budgets: BudgetSettings;
  readonly runtime: {
    readonly default: string;
    readonly capabilities: Readonly<Record<string, string>>;
    readonly fallbackModels: Readonly<Record<string, string>>;
  };
  /** By capability. */
  readonly models: Readonly<Record<string, string>>;
  readonly providers: Readonly<Record<string, ProviderSettings>>;
  readonly watchdog: HealthLimits & { readonly notifyParentOnDeath: boolean };
  readonly merge: MergeSettings;
  readonly sandbox: { readonly mode: "off" | "guard" | "os" };
  /** When a run counts as over. */
  readonly coordinator: {
    readonly exitTriggers: ExitTriggerSettings;
    readonly requireClean: boolean;
    readonly lastReview: boolean;
  };
  /** Which file or variable set a limit of `agents.*`, by key; a key that is missing has its default. */
  readonly limitSources?: Readonly<Record<string, string>>;
  /** Runtimes this program can start, with those that the project describes. */
  readonly runtimes: readonly RuntimeChoice[];
  /** Runtime files of the project that cannot be used. */
  readonly brokenRuntimes?: readonly BrokenRuntime[];
}

export interface ProviderSettings {
  readonly type: "native" | "gateway";
  readonly baseUrl?: string | undefined;
  readonly authTokenEnv?: string | undefined;
}

/** What `--runtime` or the configuration may name, and the runtime and driver that it stands for. */
export interface RuntimeChoice {
  readonly name: string;
  readonly runtime: string;
  readonly driver: string;
  /**
   * The program's names for models with short names. A short name of another runtime means the program's own default.
   */
  readonly modelAliases?: Readonly<Record<string, string>>;
  /** The provider of models that are named without one. */
  readonly modelProvider?: string | undefined;
  /** The only maker of the models that its provider offers; left out where there are several. */
  readonly vendor?: string;
  /** It reaches models through a gateway that speaks as its own provider does. */
  readonly gateways?: boolean;
  /** The description of a runtime that a file of the project describes. */
  readonly spec?: RuntimeSpec;
}

/** How branches come back. */
export interface MergeSettings {
  readonly mode: "manual" | "auto" | "approve";
  readonly unverified: "wait" | "land";
  readonly promote: "ask" | "auto";
  /** Whether the operator is asked about a branch that changes gates or files that steer agents. */
  readonly gateChanges: "ask" | "allow";
  /** Globs of more files that a branch may change only with the operator's approval. */
  readonly guarded: readonly string[];
  /** Ignored paths that are kept as the setup command made them. */
  readonly keepIgnored: readonly string[];
  /** Ignored directories that are kept as gates left them. */
  readonly cache: readonly string[];
  /** Installs dependencies in a checkout that kept none. */
  readonly setup: string | undefined;
  readonly batchSize: number;
  readonly parallelGates: number;
  readonly maxRebases: number;
  /** How long git may take to merge one branch. */
  readonly timeoutMs: number;
  readonly baselineFailing: "warn" | "block";
  readonly keepRefsDays: number;
  readonly closeTask: boolean;
  readonly runGitHooks: boolean;
  readonly structured: { readonly enabled: boolean };
  /** Files that a command makes: `paths` are globs. */
  readonly generated: readonly { readonly paths: readonly string[]; readonly command: string }[];
}

/** Something wrong with the settings, or worth a warning. For the environment, `file` is the name of the variable. */
export type ConfigProblem = FileProblem;

/** One key: its meaning, its value now, and the source that decides the value. */
export interface ConfigKey {
  readonly key: string;
  readonly value: unknown;
  readonly default: unknown;
  /** The default in words, where it depends on the project. */
  readonly defaultIs?: string;
  readonly type: string;
  /** The accepted values in words, such as "a whole number of at least 1". */
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

/** What setting or removing one key changed. */
export interface ConfigChange {
  /** Relative to the project. */
  readonly file: string;
  /** False when the file said so already. */
  readonly isWritten: boolean;
  readonly before: unknown;
  /** The key as it counts now. Another source may overrule the written value: see `origin`. */
  readonly after: ConfigKey;
  /** False when another source overrules the written value. */
  readonly inForce: boolean;
}

/** A key and what to write for it; null takes it out of the file. */
export interface WantedSetting {
  readonly key: string;
  readonly value: string | null;
}

/** What saving several keys at once changed. */
export interface ConfigSaved {
  /** Relative to the project. */
  readonly file: string;
  readonly isWritten: boolean;
  /** The keys as they count now. */
  readonly keys: readonly ConfigKey[];
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
  /** Does the project have a configuration file of its own? */
  isWritten(): boolean;
  /** Throws `config-invalid` while there are problems, unless the caller accepts defaults in place of broken values. */
  ofFiles(options?: { readonly evenBroken: boolean }): Promise<FileSettings>;
  /** The value of a key as a person would write it: without fields that have their default value. */
  asWritten(key: "project.qualityGates", value: unknown): unknown;
  /** Every key, those of a section only when one is given. While there are problems, defaults stand in for some values. */
  list(section: string | undefined): Promise<readonly ConfigKey[]>;
  /** The names that `list` takes. */
  sections(): ReadonlySet<string>;
  /** One key, as well as it can while there are problems. */
  explain(key: string): Promise<Result<ConfigKey, InvalidInput>>;
  /** The value of one key. Throws `config-invalid` while there are problems. */
  get(key: string): Promise<Result<unknown, InvalidInput>>;
  /** Those of the project's runtime files are among them. `runtimes`: the names of the runtimes that these files describe. */
  problems(): Promise<{
    readonly problems: readonly ConfigProblem[];
    readonly warnings: readonly ConfigProblem[];
    readonly runtimes: readonly string[];
  }>;
  /**
   * Sets one key in the project's file, or in this machine's own. Nothing is written that would give the settings a
   * problem they do not have now, and no edit that another program makes meanwhile is lost.
   */
  set(key: string, typed: string, options: { readonly local: boolean }): Promise<Result<ConfigChange, Refusal>>;
  /** The project's file, or this machine's own, as it is written. */
  file(options: { readonly local: boolean }): { readonly file: string; readonly text: string };
  /**
   * Sets and removes several keys in one step, under the same terms. Refused when the file has changed since the caller
   * read it.
   */
  save(
    wanted: readonly WantedSetting[],
    options: { readonly local: boolean; readonly seen: string },
  ): Promise<Result<ConfigSaved, Refusal>>;
  /** Takes one key out of the project's file, or of this machine's own, under the same terms. */
  unset(key: string, options: { readonly local: boolean }): Promise<Result<ConfigChange, Refusal>>;
}

/** All settings, as JSON by key. */
export type JudgingValues = Readonly<Record<string, string>>;

/** What the last engine of a project knew of them. */
export interface KnownSettings {
  /** Undefined when nothing is known: the settings in force count as known then. */
  read(): JudgingValues | undefined;
  /** A project may be deleted at any moment; its state directory is not made again. */
  write(values: JudgingValues): void;
}
