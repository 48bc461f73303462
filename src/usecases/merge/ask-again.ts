import { approvalFor, waitingReason } from "../../domain/merge/approval.ts";
import type { MergeEntry } from "../../domain/merge/entry.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { askForApproval } from "./approval-wait.ts";
import { factsOf } from "./enqueue.ts";
import { recordMerge } from "./record-merge.ts";

/**
 * A parent's approval counts on what the project asked for when it was given. Where that has changed since, such as by
 * the last gate being taken out, it does not cover the landing: the operator is asked. True when the entry has to wait.
 */
export async function askAgain(tx: Tx, context: Context, entry: MergeEntry): Promise<boolean> {
  const facts = factsOf(context, { asker: "parent" });
  if (entry.approval !== "parent" || approvalFor(facts) === "parent") return false;
  const change = { approval: "waiting", updatedAt: context.now } as const;
  if (!(await tx.merges.change(entry.id, ["pending", "blocked"], change))) return true;
  const waiting = { ...entry, ...change };
  const why = waitingReason(facts);
  await recordMerge(tx, context, "merge_waits", waiting, { data: { why } });
  await askForApproval(tx, context, waiting, why);
  return true;
}
