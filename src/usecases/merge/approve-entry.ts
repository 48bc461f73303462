import { isOpenMerge, type MergeEntry, openMergeStatuses } from "../../domain/merge/entry.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { Tx } from "../../ports/store.ts";
import type { Context, UseCase } from "../usecase.ts";
import { endApprovalWait } from "./approval-wait.ts";
import { answerDoubt } from "./ask-again.ts";
import { findEntry, wrongStatus } from "./find-entry.ts";
import { recordMerge } from "./record-merge.ts";

export interface ApproveRequest {
  /** Number or branch. */
  readonly of?: string | undefined;
  /** Everything that is open. */
  readonly all?: boolean | undefined;
  /** Lands even though what it depends on has not landed. */
  readonly ignoreDependencies?: boolean | undefined;
  /** Only returns the entries that would be approved; writes nothing. */
  readonly look?: boolean | undefined;
}

/** The operator's word that branches may land. */
export const approveMerge: UseCase<ApproveRequest, { readonly approved: readonly MergeEntry[] }> = {
  kind: "write",
  operatorOnly: true,
  run: async (tx, context, { of, all, ignoreDependencies, look }) => {
    if (all === true) {
      const open = await tx.merges.list({ statuses: openMergeStatuses });
      if (look === true) return ok({ approved: open });
      return ok({ approved: await approveEach(tx, context, open, {}) });
    }
    if (of === undefined) return no(invalid("merge", "must be a number, a branch or --all"));
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    const refused = isOpenMerge(found.value) ? undefined : wrongStatus(found.value, openMergeStatuses);
    if (refused !== undefined) return no(refused);
    if (look === true) return ok({ approved: [found.value] });
    await answerDoubt(tx, found.value);
    const change = ignoreDependencies === true ? { dependsOn: [] } : {};
    return ok({ approved: await approveEach(tx, context, [found.value], change) });
  },
};

async function approveEach(
  tx: Tx,
  context: Context,
  entries: readonly MergeEntry[],
  more: Partial<Pick<MergeEntry, "dependsOn">>,
): Promise<readonly MergeEntry[]> {
  const approved: MergeEntry[] = [];
  for (const entry of entries) {
    const change = { approval: "operator", updatedAt: context.now, ...more } as const;
    approved.push({ ...entry, ...change });
    if (entry.approval === "operator" && more.dependsOn === undefined) continue;
    await tx.merges.change(entry.id, openMergeStatuses, change);
    await endApprovalWait(tx, entry, context.now);
    await recordMerge(tx, context, { ...entry, ...change }, (facts) => ({ type: "merge_approved", data: facts }));
  }
  return approved;
}
