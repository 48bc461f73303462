import type { Worktrees } from "../../ports/worktrees.ts";
import type { MergePorts } from "../merge/ports.ts";
import type { Slots } from "../merge/slots.ts";

/** What answering stored checks needs. */
export interface CompletionPorts extends MergePorts {
  readonly worktrees: Pick<Worktrees, "currentBranch" | "collect" | "inspect">;
  /** Deletes variables captured from a shell. */
  forgetEnvironment(path: string): void;
}

export interface CheckTools {
  /** The places of the pool, shared with whoever else runs gates. */
  readonly slots: Slots;
  /** The engine is asked to end: gates are cut short, and their checks wait for the next engine. */
  readonly stop: AbortSignal;
}
