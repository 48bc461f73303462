import type { StoredCheck } from "../../domain/completion/check.ts";
import type { Tx } from "../../ports/store.ts";
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
  /** The places of the pool, shared with every other user of gates. */
  readonly slots: Slots;
  /** The engine is asked to end: gates are cut short, and their checks wait for the next engine. */
  readonly stop: AbortSignal;
}

/** Puts a check that is under way back, as if it had not begun. */
export async function requeue(tx: Tx, { id }: Pick<StoredCheck, "id">, now: number): Promise<void> {
  await tx.checks.change(id, ["running"], { status: "queued", progress: null, updatedAt: now });
}
