import { landingBranchFor } from "../../domain/merge/landing-branch.ts";
import type { MergeOp } from "../../domain/merge/operation.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Run } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";
import { currentRun } from "../runs/current-run.ts";
import type { Context, UseCase } from "../usecase.ts";
import { newOp } from "./new-op.ts";
import { landingsSincePromotion, type Unpromoted } from "./unpromoted.ts";

export interface PromoteRequest {
  /** The current run, else the newest, when it is not said. */
  readonly runId?: string | undefined;
}

/** `nothing`: why there is nothing to ask for. */
export type PromoteReply =
  | { readonly promote: MergeOp }
  | { readonly promote: null; readonly nothing: string; readonly target: string };

/** Asks the engine to bring what a run has landed to the branch it is meant for. Asking twice is asking once. */
export const requestPromote: UseCase<PromoteRequest, PromoteReply> = {
  access: "write",
  operatorOnly: true,
  run: async (tx, context, { runId }) => {
    const run = await findRun(tx, context, runId);
    if (!run.ok) return run;
    const found = await landingOf(tx, context, run.value, { named: runId !== undefined });
    if ("nothing" in found) return ok({ promote: null, ...found });
    const { landing, target } = found;
    const ref = `refs/heads/${target}`;
    const intended = await tx.mergeOps.list({ kind: "promote", status: "intended", ref });
    const asked = intended.find(({ request }) => request.landing === landing);
    if (asked !== undefined) return ok({ promote: asked });
    return ok({ promote: await newOp(tx, context, { kind: "promote", ref, queueIds: [], request: found }) });
  },
};

/** The landed work that a promotion would bring and no gate has proved. Writes nothing. */
export const promotionDoubts: UseCase<PromoteRequest, Pick<Unpromoted, "unverified"> & { readonly target: string }> = {
  access: "read",
  run: async (tx, context, { runId }) => {
    const run = await findRun(tx, context, runId);
    if (!run.ok) return run;
    const found = await landingOf(tx, context, run.value, { named: runId !== undefined });
    const { target } = found;
    if ("nothing" in found) return ok({ target, unverified: [] });
    return ok({ target, unverified: (await landingsSincePromotion(tx, found.landing)).unverified });
  },
};

interface Landing {
  readonly runId?: string;
  readonly landing: string;
  readonly target: string;
}

interface Nothing {
  readonly nothing: string;
  readonly target: string;
}

/** What the run has landed; else, unless a run was named, what a person landed without any run. */
async function landingOf(
  tx: Tx,
  context: Context,
  run: Run | undefined,
  { named }: { readonly named: boolean },
): Promise<Landing | Nothing> {
  const canonical = context.settings.project.canonicalBranch;
  const { id: runId, landingBranch: landing = null, targetBranch } = run ?? {};
  const target = targetBranch ?? canonical;
  if (runId !== undefined && landing !== null && landing !== target) return { runId, landing, target };
  const without = named ? undefined : await landingWithoutRun(tx, canonical);
  if (without !== undefined) return without;
  const nothing = landing === null ? "nothing has landed yet" : `its work lands on ${target} itself`;
  return { nothing: runId === undefined ? nothing : `${runId}: ${nothing}`, target };
}

/** What a person landed without any run waits on a branch of its own as well. */
async function landingWithoutRun(tx: Tx, target: string): Promise<Landing | undefined> {
  const landing = landingBranchFor({ target, runId: null, targetCheckedOut: true, earlier: [] });
  const merged = await tx.merges.list({ statuses: ["merged"] });
  return merged.some(({ targetBranch }) => targetBranch === landing) ? { landing, target } : undefined;
}

/** Undefined when there is none; a run that was named must be there. */
async function findRun(tx: Tx, context: Context, runId: string | undefined): Promise<Result<Run | undefined, Refusal>> {
  if (runId !== undefined) {
    const named = await tx.runs.get(runId);
    return named === undefined ? no(notFound("run", runId)) : ok(named);
  }
  // Promoting is mostly asked for when the run has just ended.
  return ok((await currentRun(tx, context.caller)) ?? (await tx.runs.list(1))[0]);
}
