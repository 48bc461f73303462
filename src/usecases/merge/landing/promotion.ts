import { sendsBack } from "../../../domain/completion/request.ts";
import { ownLanding } from "../../../domain/merge/landing-branch.ts";
import type { MergeOp } from "../../../domain/merge/operation.ts";
import { promoteCommand } from "../../../domain/merge/words.ts";
import { invalid, notFound, type Refusal } from "../../../domain/refusal.ts";
import { no, ok, type Result } from "../../../domain/result.ts";
import { statusAfterReview } from "../../../domain/run/checklist.ts";
import type { Run } from "../../../domain/run/run.ts";
import { fields, type SchemaOf, text } from "../../../domain/schema/schema.ts";
import type { Tx } from "../../../ports/store.ts";
import { record } from "../../events/record.ts";
import { tellOperator } from "../../mail/post.ts";
import { currentRun } from "../../runs/read-runs.ts";
import { lastVerdictOf } from "../../runs/verdict-on-whole.ts";
import type { Context, UseCase } from "../../usecase.ts";
import { newOp } from "../merge-records.ts";
import { formerLandingOf } from "./landing-target.ts";
import { doubtsAbout, type Unpromoted, unpromotedWork } from "./unpromoted.ts";

export interface PromoteRequest {
  /** Default: the current run, else the newest. */
  readonly runId?: string | undefined;
  /** What waits for this branch, whichever run it is of. */
  readonly target?: string | undefined;
}

const promoteFields: SchemaOf<PromoteRequest> = fields({}, { runId: text, target: text });

/** `nothing`: why there is nothing to ask for. */
export type PromoteReply =
  | { readonly promote: MergeOp }
  | { readonly promote: null; readonly nothing: string; readonly target: string };

/** Asks the engine to bring what a run has landed to the branch it is meant for. Asking twice is asking once. */
export const requestPromote: UseCase<PromoteRequest, PromoteReply> = {
  kind: "write",
  request: promoteFields,
  operatorOnly: true,
  run: async (tx, context, request) => {
    const asked = await landingFor(tx, context, request);
    if (!asked.ok) return asked;
    const found = asked.value;
    if ("nothing" in found) return ok({ promote: null, ...found });
    const { landing, target } = found;
    const ref = `refs/heads/${target}`;
    const intended = await tx.mergeOps.list({ kind: "promote", status: "intended", ref });
    const same = intended.find((op) => op.request.landing === landing);
    if (same !== undefined) return ok({ promote: same });
    return ok({ promote: await newOp(tx, context, { kind: "promote", ref, queueIds: [], request: found }) });
  },
};

export interface PromotionOutlook extends Pick<Unpromoted, "unverified"> {
  /** What the last review of the run says against it, and criteria that are not shown to be met, each with where to read it. */
  readonly doubted: readonly string[];
  readonly target: string;
  /** Where the work waits, and of which run it is; null where nothing has landed yet. */
  readonly landing: { readonly branch: string; readonly runId: string | null } | null;
  /** What this promotion does not bring and waits all the same. */
  readonly elsewhere: readonly Pick<Unpromoted, "runId" | "target">[];
}

/** The landed work that a promotion would bring and no gate has proved. Writes nothing. */
export const promotionDoubts: UseCase<PromoteRequest, PromotionOutlook> = {
  kind: "read",
  request: promoteFields,
  run: async (tx, context, request) => {
    const asked = await landingFor(tx, context, request);
    if (!asked.ok) return asked;
    const found = asked.value;
    const { target } = found;
    const landing = "nothing" in found ? undefined : found.landing;
    const runId = "nothing" in found ? null : (found.runId ?? null);
    const elsewhere = (await unpromotedWork(tx, context)).filter((one) => one.landing !== landing);
    const unverified = landing === undefined ? [] : await doubtsAbout(tx, context, landing, { gatedFirst: true });
    const doubted = runId === null ? [] : await doubtsAboutRun(tx, runId);
    const from = landing === undefined ? null : { branch: landing, runId };
    return ok({ target, landing: from, unverified, doubted, elsewhere });
  },
};

/** The target gets the work of a run with what its last review and its checklist leave open. */
async function doubtsAboutRun(tx: Tx, runId: string): Promise<readonly string[]> {
  const run = await tx.runs.get(runId);
  const review = run === undefined ? null : await lastVerdictOf(tx, run);
  const where = review?.message == null ? `ov run show ${runId}` : `ov mail read ${review.message}`;
  const unmet = (await tx.criteria.of(runId)).filter((criterion) => {
    const status = statusAfterReview(criterion, review);
    // Most criteria of a run that goes on are open, which says nothing against the work so far.
    return status === "doubted" || (status === "open" && (run?.status !== "active" || criterion.proofLost !== null));
  });
  const numbers = unmet.map(({ number }) => number).join(", ");
  return [
    ...(review === null || !sendsBack(review.verdict)
      ? []
      : [`the last review of ${runId} says ${review.verdict}: ${where}`]),
    ...(unmet.length === 0
      ? []
      : [
          `not shown to be met: ${unmet.length === 1 ? "criterion" : "criteria"} ${numbers}: ov run criteria --run ${runId}`,
        ]),
  ];
}

async function landingFor(
  tx: Tx,
  context: Context,
  { runId, target }: PromoteRequest,
): Promise<Result<Landing | Nothing, Refusal>> {
  if (target !== undefined) {
    if (target === "") return no(invalid("--target", "must name a branch"));
    if (runId !== undefined) return no(invalid("--target", "cannot be combined with --run"));
    const waiting = (await unpromotedWork(tx, context)).find((one) => one.target === target);
    if (waiting === undefined) return ok({ nothing: `nothing that has landed waits for ${target}`, target });
    const of = waiting.runId === null ? {} : { runId: waiting.runId };
    return ok({ ...of, landing: waiting.landing, target });
  }
  const run = await findRun(tx, context, runId);
  return run.ok ? ok(await landingOf(tx, context, run.value, { named: runId !== undefined })) : run;
}

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
  const direct = { kind: "land", status: "done", ref: `refs/heads/${target}`, limit: 1 } as const;
  const landsThere = landing !== null || (runId === undefined && (await tx.mergeOps.list(direct)).length > 0);
  const nothing = landsThere ? `work lands on ${target} itself` : "nothing has landed yet";
  return { nothing: runId === undefined ? nothing : `${runId}: ${nothing}`, target };
}

/** What a person landed without any run waits on a branch of its own as well. */
async function landingWithoutRun(tx: Tx, target: string): Promise<Landing | undefined> {
  const merged = new Set((await tx.merges.list({ statuses: ["merged"] })).map(({ targetBranch }) => targetBranch));
  const former = await formerLandingOf(tx, target);
  const landing = [ownLanding(target), former].find((branch) => branch !== undefined && merged.has(branch));
  return landing === undefined ? undefined : { landing, target };
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

/** At the end of a run its work is taken over by itself, where the project wants that and no file of a user is in the way. */
export async function promoteAtEnd(tx: Tx, context: Context, run: Run): Promise<void> {
  const { id: runId, landingBranch: landing, targetBranch: target } = run;
  if (context.settings.merge.promote !== "auto") return;
  if (landing === null || target === null || landing === target) return;
  const request = { runId, landing, target, onlyIfClean: true };
  await newOp(tx, context, { kind: "promote", ref: `refs/heads/${target}`, queueIds: [], request });
}

type Promotion = Pick<MergeOp, "status" | "problem"> &
  Partial<Pick<MergeOp, "beforeCommit" | "afterCommit" | "request">>;

/** Ends a promotion, in the transaction that records it. The operator is told why when nothing was moved. */
export async function settlePromotion(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  op: MergeOp,
  end: Promotion,
): Promise<void> {
  if (!(await tx.mergeOps.settle(op.id, { ...end, updatedAt: context.now }))) return;
  const { landing = "", target = "", runId = null, removedLocks = [] } = op.request;
  const done = end.status === "done";
  if (done && end.beforeCommit === end.afterCommit) return;
  await record(tx, context.now, {
    source: "engine",
    runId,
    type: done ? "merge_promoted" : "merge_promote_failed",
    level: done ? "info" : "warn",
    data: { opId: op.id, landing, target, commit: end.afterCommit ?? null, problem: end.problem, removedLocks },
  });
  // A landing branch that was moved, or a target that was rewritten, is already a decision in the inbox.
  if (done || op.request.cause === "foreign_tip" || op.request.cause === "rewritten_target") return;
  await tellOperator(tx, context, {
    runId,
    subject: `not promoted: ${target}`,
    body: `${landing} could not be taken over into ${target}: ${end.problem ?? ""}\nNothing was changed. Try again with: ${promoteCommand({ runId, target })}`,
    type: "error",
    priority: "normal",
  });
}
