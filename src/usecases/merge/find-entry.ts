import { isOpenMerge, type MergeEntry, type MergeStatus } from "../../domain/merge/entry.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";

/** The entry of this number, or of this branch: the one that holds its place, else the latest. */
export async function findEntry(tx: Tx, of: string): Promise<Result<MergeEntry, Refusal>> {
  const typed = of.trim().replace(/^#/, "");
  if (/^\d{1,15}$/.test(typed)) {
    const entry = await tx.merges.get(Number(typed));
    if (entry !== undefined) return ok(entry);
  }
  const entries = await tx.merges.list({ branch: typed });
  const entry = entries.findLast(isOpenMerge) ?? entries.at(-1);
  if (entry !== undefined) return ok(entry);
  const known = (await tx.merges.list({ limit: suggestable })).map(({ branch }) => branch);
  const near = nearest(typed, known);
  if (/^\d+$/.test(typed) || typed.includes("/") || near !== undefined) return no(notFound("merge entry", of, near));
  return no(invalid("merge", "is neither the number of a merge nor a branch in the queue", { value: of }));
}

/** Why nothing can be done to it, unless it has one of these statuses. */
export function wrongStatus(entry: MergeEntry, wanted: readonly MergeStatus[]): Refusal | undefined {
  const { id, branch, status } = entry;
  if (wanted.includes(status)) return undefined;
  return { kind: "merge-status", entry: id, branch, status, wanted };
}

/** A landing that may already be visible cannot be decided about any more; a moment later it is known. */
export async function isLanding(tx: Tx, { id }: MergeEntry): Promise<boolean> {
  const landings = await tx.mergeOps.list({ kind: "land", status: "intended", queueId: id, limit: 1 });
  return landings.length > 0;
}

export const landingBusy = ({ branch }: MergeEntry): Refusal => ({ kind: "busy", what: `the landing of ${branch}` });

const suggestable = 200;
