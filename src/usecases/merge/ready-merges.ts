import { sufficientApprovals } from "../../domain/merge/approval.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import { landingOrder } from "../../domain/merge/order.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";

/** What could land now, in the order in which it should; over all targets. */
export async function readyMerges(
  tx: Tx,
  { settings, now }: Pick<Context, "settings" | "now">,
): Promise<readonly MergeEntry[]> {
  const waiting = await tx.merges.list({ statuses: ["pending", "blocked"] });
  const merged = new Set<number>();
  for (const id of new Set(waiting.flatMap(({ dependsOn }) => dependsOn))) {
    if ((await tx.merges.get(id))?.status === "merged") merged.add(id);
  }
  return landingOrder(waiting, { now, approvals: sufficientApprovals(settings.merge.mode), merged });
}
