import { type MergeEntry, openMergeStatuses } from "../../domain/merge/entry.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";
import { findEntry, isLanding, landingBusy, wrongStatus } from "./find-entry.ts";
import { type Rejected, rejected } from "./settle-rejection.ts";

export interface RejectRequest {
  readonly of: string;
  readonly reason: string;
}

/** The operator's word that a branch may not land as it is: its agent goes back to work with the reason. */
export const rejectMerge: UseCase<RejectRequest, { readonly entry: MergeEntry } & Rejected> = {
  kind: "write",
  operatorOnly: true,
  run: async (tx, context, { of, reason }) => {
    if (reason.trim() === "") return no(invalid("reason", "must say what is wrong"));
    const found = await findEntry(tx, of);
    if (!found.ok) return found;
    const entry = found.value;
    const refused = wrongStatus(entry, openMergeStatuses);
    if (refused !== undefined) return no(refused);
    if (await isLanding(tx, entry)) return no(landingBusy(entry));
    const sent = await rejected(tx, context, entry, {
      status: "failed",
      cause: "approval_denied",
      detail: { message: reason.trim() },
      approval: "denied",
    });
    const now = (await tx.merges.get(entry.id)) ?? entry;
    return ok({ entry: now, agentName: sent?.agentName ?? null, isBack: sent?.isBack ?? false });
  },
};
