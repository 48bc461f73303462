import type { Refusal } from "../../domain/refusal.ts";
import type { Result } from "../../domain/result.ts";
import type { Prediction } from "../../usecases/merge/predict.ts";
import type { Call } from "../../usecases/operation.ts";

/** What tools may ask of the program, as the agent whose token it is. Filled by `compose`. */
export interface McpApp {
  readonly version: string;
  readonly call: Call;
  /** Loaded on first use: most agents never look at another's branch. */
  branches(): Promise<Branches>;
  /** Ends early, without an error, when nobody waits any more. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** What git knows about branches. Nothing here writes. */
export interface Branches {
  /** The tip; a refusal, with the nearest name, when there is no such branch. */
  head(branch: string): Promise<Result<string, Refusal>>;
  changedFiles(target: string, of: { readonly branch: string; readonly commit: string }): Promise<readonly string[]>;
  predict(request: {
    readonly target: string;
    readonly runId: string | null;
    readonly landings: readonly string[];
    readonly candidates: readonly { readonly branch: string; readonly headCommit: string }[];
  }): Promise<readonly (Prediction & { readonly gatesLikely: readonly string[] })[]>;
  patch(of: {
    readonly branch: string;
    readonly headCommit: string;
    readonly targetBranch: string;
    readonly resultCommit: string | null;
  }): Promise<Result<string, Refusal>>;
}
