import { ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { purposeOf } from "../merge/landing/landing-target.ts";
import type { Effect } from "../operation.ts";
import type { UseCase } from "../usecase.ts";

export interface BranchDiff {
  readonly branch: string;
  /** The commit that is compared. */
  readonly head: string;
  /** The branch that it is compared with. */
  readonly against: string;
  readonly patch: string;
}

/**
 * What a branch changes against where it will land. A landing branch of ours is compared with the branch that it is promoted
 * to: that is the whole work of its run.
 */
export const diffBranch: Effect<{ readonly branch: string }, BranchDiff> = {
  kind: "effect",
  request: fields({ branch: text }),
  place: "engine",
  run: async (world, { branch }) => {
    const tip = await world.call("branch.find", { branch });
    if (!tip.ok) return tip;
    const head = tip.value.commit;
    const promoted = await world.call("branch.findPromotion", { branch });
    if (!promoted.ok) return promoted;
    const compare = async (against: string, resultCommit: string | null) => {
      const shown = await world.call("merge.showPatch", {
        branch,
        headCommit: head,
        targetBranch: against,
        resultCommit,
      });
      return shown.ok ? ok({ branch, head, against, patch: shown.value.patch }) : shown;
    };
    if (promoted.value.target !== null) return compare(promoted.value.target, null);
    const preview = await world.call("merge.preview", { branch, headCommit: head });
    if (!preview.ok) return preview;
    const { targetBranch, resultCommit, runId } = preview.value.entry;
    const run = runId === null ? undefined : await world.call("run.show", { id: runId });
    const landing = run?.ok === true ? run.value.run.landingBranch : null;
    // Work that landed meanwhile is part of the landing branch, not of this change.
    if (landing !== null && landing !== targetBranch) {
      const shown = await compare(landing, resultCommit);
      // The landing branch exists once something has landed there; before, work starts from the target.
      if (shown.ok) return shown;
    }
    return compare(targetBranch, resultCommit);
  },
};

/** The branch that a landing branch of ours is promoted to. Null for any other branch, and where work lands on its target. */
export const findPromotion: UseCase<{ readonly branch: string }, { readonly target: string | null }> = {
  kind: "read",
  request: fields({ branch: text }),
  run: async (tx, context, { branch }) => {
    const purpose = await purposeOf(tx, context, branch);
    return ok({ target: purpose === null || purpose.target === branch ? null : purpose.target });
  },
};
