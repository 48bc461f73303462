import type { MergeEntry } from "../../domain/merge/entry.ts";
import { isIntegration } from "../../domain/merge/landing-branch.ts";
import { no, ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";
import { type AddMergeRequest, newMergeOf, refuseWithoutCommits } from "./add-entry.ts";
import { completionReceipt, ownerOfBranch } from "./branch-owner.ts";
import { freshEntry } from "./enqueue.ts";
import { formerLandingOf } from "./landing-target.ts";

/** An entry; without a number while it has no place in the queue. */
export type MergePreview = Omit<MergeEntry, "id"> & { readonly id: number | null };

/** What the queue would hold after this branch was added to it. Adds nothing. */
export const previewMerge: UseCase<AddMergeRequest, { readonly entry: MergePreview }> = {
  kind: "read",
  run: async (tx, context, request) => {
    // For an agent, the right to queue the branch is checked first, when it queues it.
    const empty = context.caller.kind === "agent" ? undefined : await refuseWithoutCommits(tx, request);
    if (empty !== undefined) return no(empty);
    const asked = await newMergeOf(tx, context, request);
    if (!asked.ok) return asked;
    const { branch, headCommit, targetBranch } = asked.value;
    const open = await tx.merges.openOf(branch, targetBranch);
    const entry =
      open?.headCommit === headCommit ? open : { ...(await freshEntry(tx, context, asked.value)), id: null };
    // Nothing has landed yet, but its agent may have proved exactly this commit.
    const owner = await ownerOfBranch(tx, branch);
    const proved = owner === undefined ? undefined : await completionReceipt(tx, owner, headCommit);
    return ok({ entry: { ...entry, verdict: entry.verdict ?? proved?.verdict ?? null } });
  },
};

/** How many earlier runs may have left work that waits for being taken over. */
const remembered = 200;

/** The branches on which work for this target was put instead, by the newest run first. */
export const landingsOf: UseCase<{ readonly target: string }, { readonly branches: readonly string[] }> = {
  kind: "read",
  run: async (tx, _context, { target }) => {
    const runs = await tx.runs.list(remembered);
    const landings = runs.filter((run) => run.targetBranch === target).map((run) => run.landingBranch ?? "");
    const former = await formerLandingOf(tx, target);
    const all = former === undefined ? landings : [...landings, former];
    return ok({ branches: [...new Set(all.filter(isIntegration))] });
  },
};
