import { criterionStatus, evidenceOf } from "../../domain/run/checklist.ts";
import type { Lack } from "../../domain/run/open-ends.ts";
import { fields, flag, list, text, whole } from "../../domain/schema/schema.ts";
import type { Effect } from "../operation.ts";
import type { EndReply } from "./change-run.ts";
import { type ChecklistReply, type EvidenceGit, lacksOf } from "./criteria.ts";
import type { LandedLook } from "./end-after-review.ts";

export interface CompleteRequest {
  /** Default: the current run. */
  readonly runId?: string | undefined;
  readonly force?: boolean | undefined;
  /** Numbers of criteria that the operator waives with this. */
  readonly waive?: readonly number[] | undefined;
  /** Why they are waived. */
  readonly reason?: string | undefined;
}

/** Ends the current run. Looks once more, on the landed work of this moment, for evidence that was found before. */
export const completeRun: Effect<CompleteRequest, EndReply> = {
  kind: "effect",
  request: fields({}, { runId: text, force: flag, waive: list(whole), reason: text }),
  place: "engine",
  run: async (world, request) => {
    const listed = await world.call("criterion.list", { runId: request.runId });
    if (!listed.ok) return listed;
    const { criteria } = listed.value;
    if (criteria.length === 0) return world.call("run.end", request);
    const looked = await world.lookAhead((git) => lookAtLanded(git, listed.value));
    return world.call("run.end", { ...request, ...looked });
  },
};

/** Looks for the evidence of a checklist on the tip of the branch where its run lands. */
export async function lookAtLanded(
  git: EvidenceGit,
  { criteria, landing }: Pick<ChecklistReply, "criteria" | "landing">,
): Promise<LandedLook> {
  const landed = await git.commitOf(`refs/heads/${landing}`);
  const open = criteria.flatMap(({ criterion }) => {
    const evidence = criterionStatus(criterion) === "proved" ? evidenceOf(criterion) : undefined;
    const { number, checkedCommit } = criterion;
    return evidence === undefined || checkedCommit === landed ? [] : [{ number, evidence }];
  });
  const evidence = open.map((one) => one.evidence);
  const problems = landed === undefined ? undefined : await lacksOf(git, landed, evidence);
  const lacks = open.flatMap(({ number }, at): Lack[] => {
    const problem = problems === undefined ? "cannot be looked for" : problems[at];
    return problem === undefined ? [] : [{ number, problem: `${problem} on ${landing} now` }];
  });
  return { landed: landed ?? null, lacks };
}
