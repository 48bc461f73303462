import type { StoredCheck } from "../../domain/completion/check.ts";
import type { Tx } from "../../ports/store.ts";

/** Puts a check that somebody works on back, as if nobody had begun. */
export async function requeue(tx: Tx, { id }: Pick<StoredCheck, "id">, now: number): Promise<void> {
  await tx.checks.change(id, ["running"], { status: "queued", progress: null, updatedAt: now });
}
