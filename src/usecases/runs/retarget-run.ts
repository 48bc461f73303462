import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { isIntegration } from "../../domain/merge/landing-branch.ts";
import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import { byCaller, record } from "../events/record.ts";
import { ownerOfBranch } from "../merge/branch-owner.ts";
import { moveEntry } from "../merge/enqueue.ts";
import { landingsSincePromotion } from "../merge/unpromoted.ts";
import type { UseCase } from "../usecase.ts";
import { findRun } from "./read-runs.ts";

export interface RetargetRequest {
  /** The current run, else the newest, when it is not said. */
  readonly runId?: string | undefined;
  /** A branch that exists: looked up by the caller, who has git at hand. */
  readonly target: string;
}

export interface RetargetReply {
  readonly run: Run;
  readonly before: string | null;
  /** Landed branches that wait for a promotion. */
  readonly waiting: number;
}

/**
 * Gives a run another branch to work for. What has landed on a landing branch of ours stays there, and is promoted to the
 * new target. A run that lands on its target directly decides anew where to land, and takes what waits along.
 */
export const retargetRun: UseCase<RetargetRequest, RetargetReply> = {
  kind: "write",
  operatorOnly: true,
  run: async (tx, context, { runId, target }) => {
    const found = await findRun(tx, context.caller, runId);
    if (!found.ok) return found;
    const run = found.value;
    if (isIntegration(target)) return no(invalid("branch", "is a landing branch of ours", { value: target }));
    const owner = await ownerOfBranch(tx, target);
    if (owner !== undefined) {
      return no(
        invalid("branch", `is the work of the agent ${owner.name}, which lands on a target`, { value: target }),
      );
    }
    const before = run.targetBranch;
    const { landingBranch: landing } = run;
    const waiting =
      landing === null || !isIntegration(landing) ? 0 : (await landingsSincePromotion(tx, landing)).length;
    if (before === target) return ok({ run, before, waiting });
    const keepsLanding = run.landingBranch !== null && isIntegration(run.landingBranch);
    const landingBranch = keepsLanding ? run.landingBranch : null;
    await tx.runs.setBranches(run.id, { targetBranch: target, landingBranch });
    if (!keepsLanding) {
      const open = await tx.merges.list({ runId: run.id, statuses: openMergeStatuses });
      for (const entry of open) {
        if (entry.targetBranch === before) await moveEntry(tx, context, entry, target);
      }
    }
    const data = { runId: run.id, from: before, to: target, landingBranch };
    await record(tx, context.now, { ...byCaller(context.caller, run.id), type: "run_retargeted", data });
    return ok({ run: { ...run, targetBranch: target, landingBranch }, before, waiting });
  },
};
