import type { Usage } from "../../domain/budget/usage.ts";
import type { Tx } from "../../ports/store.ts";

/** Stores what answers of a model took. A message reported again (re-read output, a longer answer) counts once. */
export async function recordUsage(tx: Tx, rows: readonly Usage[]): Promise<void> {
  for (const row of rows) await tx.usage.record(row);
}
