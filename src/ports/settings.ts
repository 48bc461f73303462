import type { BudgetSettings } from "../domain/budget/budget.ts";

/** The slices of the configuration that rules and use cases read. `config` gives values of this shape. */
export interface Settings {
  readonly project: { readonly name: string; readonly canonicalBranch: string };
  readonly agents: {
    readonly maxConcurrent: number;
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
  /** Runtimes this program can start. */
  readonly runtimes: readonly string[];
}
