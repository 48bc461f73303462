import type { BudgetSettings } from "../domain/budget/budget.ts";
import type { ExitTriggerSettings } from "../domain/coordination/exit-triggers.ts";
import type { Gate } from "../domain/gate/gate.ts";
import type { TrackerBackend } from "../domain/tracker/backend.ts";

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
  readonly runtime: { readonly default: string; readonly capabilities: Readonly<Record<string, string>> };
  readonly watchdog: { readonly notifyParentOnDeath: boolean };
  readonly merge: MergeSettings;
  /** When a run counts as over. */
  readonly coordinator: { readonly exitTriggers: ExitTriggerSettings; readonly requireClean: boolean };
  /** Which file or variable set a limit of `agents.*`, by key; a key that is missing has its default. */
  readonly limitSources?: Readonly<Record<string, string>>;
  /** Runtimes this program can start. */
  readonly runtimes: readonly RuntimeChoice[];
}

/** What `--runtime` or the configuration may name, and the runtime and driver that it stands for. */
export interface RuntimeChoice {
  readonly name: string;
  readonly runtime: string;
  readonly driver: string;
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
  readonly baselineFailing: "warn" | "block";
  readonly keepRefsDays: number;
  readonly closeTask: boolean;
  readonly runGitHooks: boolean;
  readonly structured: { readonly enabled: boolean };
  /** Files that a command makes: `paths` are globs. */
  readonly generated: readonly { readonly paths: readonly string[]; readonly command: string }[];
}
