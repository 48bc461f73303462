import { landingBranchFor } from "../../domain/merge/landing-branch.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { currentRun } from "../runs/current-run.ts";
import type { Context, UseCase } from "../usecase.ts";
import { newOp } from "./new-op.ts";

export interface PromoteRequest {
  /** The current run, else the newest, when it is not said. */
  readonly runId?: string | undefined;
}

/** Asks the engine to bring what a run has landed to the branch it is meant for. Asking twice is asking once. */
export const requestPromote: UseCase<PromoteRequest, { readonly promote: MergeOp }> = {
  access: "write",
  operatorOnly: true,
  run: async (tx, context, { runId }) => {
    const ofRun = await landingOfRun(tx, context, runId);
    const found = ofRun.ok || runId !== undefined ? ofRun : ((await landingWithoutRun(tx, context)) ?? ofRun);
    if (!found.ok) return found;
    const { landing, target } = found.value;
    const ref = `refs/heads/${target}`;
    const intended = await tx.mergeOps.list({ kind: "promote", status: "intended", ref });
    const asked = intended.find(({ request }) => request.landing === landing);
    if (asked !== undefined) return ok({ promote: asked });
    return ok({ promote: await newOp(tx, context, { kind: "promote", ref, queueIds: [], request: found.value }) });
  },
};

interface Landing {
  readonly runId?: string;
  readonly landing: string;
  readonly target: string;
}

async function landingOfRun(tx: Tx, context: Context, runId: string | undefined): Promise<Result<Landing, Refusal>> {
  const run = await findRun(tx, context, runId);
  if (!run.ok) return run;
  const { id, landingBranch: landing, targetBranch: target } = run.value;
  if (landing === null || target === null) return no(nothing(id, "nothing of it has landed yet"));
  if (landing === target) return no(nothing(id, `its work lands on ${target} itself`));
  return ok({ runId: id, landing, target });
}

/** What a person landed without any run waits on a branch of its own as well. */
async function landingWithoutRun(tx: Tx, { settings }: Context): Promise<Result<Landing, Refusal> | undefined> {
  const target = settings.project.canonicalBranch;
  const landing = landingBranchFor({ target, runId: null, targetCheckedOut: true, earlier: [] });
  const merged = await tx.merges.list({ statuses: ["merged"] });
  return merged.some(({ targetBranch }) => targetBranch === landing) ? ok({ landing, target }) : undefined;
}

async function findRun(tx: Tx, context: Context, runId: string | undefined): Promise<Result<Run, Refusal>> {
  if (runId !== undefined) {
    const named = await tx.runs.get(runId);
    return named === undefined ? no(notFound("run", runId)) : ok(named);
  }
  // Promoting is mostly asked for when the run has just ended.
  const run = (await currentRun(tx, context.caller)) ?? (await tx.runs.list(1))[0];
  return run === undefined ? no({ kind: "no-current-run" }) : ok(run);
}

const nothing = (run: string, why: string): Refusal => ({ kind: "nothing-to-promote", run, why });
