import { type MergeEntry, mergeRef } from "../../domain/merge/entry.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { isOfTarget } from "./find-undo.ts";

/** Work that landed on a branch of ours and is not on its target yet. */
export interface Unpromoted {
  readonly runId: string;
  readonly landing: string;
  readonly target: string;
  /** Landings since the last promotion. */
  readonly landings: number;
  /** Why some landings are not proved, each reason once; empty when the gates prove all of them. */
  readonly unverified: readonly string[];
}

/** An older run is promoted by name: `ov merge promote --run`. */
const mostRuns = 20;

/** The runs, among the newest, whose work waits for a promotion. Reads the record, not git. */
export async function unpromotedRuns(tx: Tx): Promise<readonly Unpromoted[]> {
  const found: Unpromoted[] = [];
  const seen = new Set<string>();
  for (const run of await tx.runs.list(mostRuns)) {
    const { landingBranch: landing, targetBranch: target } = run;
    if (landing === null || target === null || seen.has(landing)) continue;
    seen.add(landing);
    const { landings, unverified } = await landingsSincePromotion(tx, landing);
    if (landings > 0) found.push({ runId: run.id, landing, target, landings, unverified });
  }
  return found;
}

/** The landings on a branch since its last promotion. */
export async function landingsSincePromotion(
  tx: Tx,
  landing: NonNullable<Run["landingBranch"]>,
): Promise<Pick<Unpromoted, "landings" | "unverified">> {
  const landed = await tx.mergeOps.list({ kind: "land", status: "done", ref: `refs/heads/${landing}`, limit: 200 });
  if (landed.length === 0) return { landings: 0, unverified: [] };
  const promotions = await tx.mergeOps.list({ kind: "promote", status: "done", limit: 200 });
  const last = promotions.find(({ request, undoneBy }) => request.landing === landing && undoneBy === null);
  const unverified = new Set<string>();
  let landings = 0;
  for (const { seq, undoneBy, queueIds } of landed) {
    if (undoneBy !== null || (last !== undefined && last.seq > seq)) continue;
    for (const id of queueIds) {
      const entry = await tx.merges.get(id);
      if (entry?.status !== "merged" || (await isOfTarget(tx, entry))) continue;
      landings++;
      for (const reason of await doubtsOf(tx, entry)) unverified.add(reason);
    }
  }
  return { landings, unverified: [...unverified] };
}

async function doubtsOf(tx: Tx, { id, verdict }: MergeEntry): Promise<readonly string[]> {
  if (verdict !== "unverified") return [];
  const gaps = (await tx.receipts.about(mergeRef(id))).flatMap((receipt) => receipt.gaps);
  return gaps.length === 0 ? ["no gate has checked it"] : gaps;
}
