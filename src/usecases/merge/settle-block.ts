import { type CauseDetail, type MergeCause, type MergeEntry, openMergeStatuses } from "../../domain/merge/entry.ts";
import { blockedMail } from "../../domain/merge/outcome-mail.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context } from "../usecase.ts";
import { notify } from "./notify.ts";
import { recordMerge } from "./record-merge.ts";

export interface Block {
  readonly cause: MergeCause;
  readonly detail: CauseDetail;
  /** When it is tried again by itself. */
  readonly notBefore: number;
}

/**
 * Something outside is in the way of a branch: nobody is sent back to work, it is tried again. The operator learns of it
 * once, not with every try, and not for every branch that meets the same.
 */
export async function blocked(tx: Tx, context: Context, entry: MergeEntry, block: Block): Promise<void> {
  const { cause, detail, notBefore } = block;
  const before = await tx.merges.get(entry.id);
  const others = await tx.merges.list({ statuses: ["blocked"] });
  const change = { status: "blocked", cause, causeDetail: detail, notBefore, updatedAt: context.now } as const;
  if (!(await tx.merges.change(entry.id, openMergeStatuses, change))) return;
  const isSame = (other: MergeEntry | undefined): boolean =>
    other?.targetBranch === entry.targetBranch && other.causeDetail?.message === detail.message;
  if (isSame(before)) return;
  await recordMerge(tx, context, entry, (facts) => ({
    type: "merge_blocked",
    level: "warn",
    data: { ...facts, cause, message: detail.message },
  }));
  if (others.some(isSame)) return;
  const mail = blockedMail({ entry, cause, detail });
  await notify(tx, context, ["operator"], { ...mail, type: "status", priority: "high", runId: entry.runId });
}
