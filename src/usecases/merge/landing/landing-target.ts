import { bringsTarget, type MergeEntry } from "../../../domain/merge/entry.ts";
import { formerLanding, isIntegration, type LandingFacts, ownLanding } from "../../../domain/merge/landing-branch.ts";
import { type MergeOp, wasLater } from "../../../domain/merge/operation.ts";
import type { Promotion } from "../../../domain/merge/words.ts";
import { type InvalidInput, invalid } from "../../../domain/refusal.ts";
import { ok } from "../../../domain/result.ts";
import type { Run } from "../../../domain/run/run.ts";
import { fields, orNull, text } from "../../../domain/schema/schema.ts";
import type { MergeGit } from "../../../ports/merge-git.ts";
import type { Tx } from "../../../ports/store.ts";
import type { Context, UseCase } from "../../usecase.ts";
import { ownerOfBranch } from "../branch-owner.ts";

/**
 * The branch on which branches of this run land: its landing branch if one is decided, else its target, else the
 * project's own branch.
 */
export async function targetOf(tx: Tx, { settings }: Pick<Context, "settings">, runId: string | null): Promise<string> {
  const run = runId === null ? undefined : await tx.runs.get(runId);
  return run?.landingBranch ?? run?.targetBranch ?? settings.project.canonicalBranch;
}

/** How many of the newest runs are looked through for those of one landing branch, or of one target. */
const remembered = 200;

export interface Purpose {
  /** The branch that what lands here is promoted to. */
  readonly target: string;
  /** The newest run that lands here. Null: work that was queued for another branch than its run's, or without a run. */
  readonly run: Run | null;
}

/**
 * What a landing branch of ours is for. A run knows its own; any other says it where it began. Null for a branch that
 * work lands on directly.
 */
export async function purposeOf(
  tx: Tx,
  { settings }: Pick<Context, "settings">,
  landing: string,
): Promise<Purpose | null> {
  if (!isIntegration(landing)) return null;
  const run = (await tx.runs.list(remembered)).find((one) => one.landingBranch === landing) ?? null;
  if (run !== null && run.targetBranch !== null) return { target: run.targetBranch, run };
  const begun = await tx.mergeOps.list({ kind: "begin", status: "done", ref: `refs/heads/${landing}` });
  const target = begun.find(({ request }) => request.target !== undefined)?.request.target;
  return { target: target ?? settings.project.canonicalBranch, run };
}

/**
 * Why a branch cannot be what a run works for; undefined when it can. On a landing branch of ours the operations of one
 * run would pass for those of the other, and hide commits that another program put there.
 */
export async function refusedTarget(
  tx: Tx,
  context: Pick<Context, "settings">,
  branch: string,
  field: string,
): Promise<InvalidInput | undefined> {
  const purpose = await purposeOf(tx, context, branch);
  if (purpose !== null) {
    const next = purpose.target === branch ? "" : `; name the branch that it is for: ${purpose.target}`;
    return invalid(field, `is a landing branch of ours${isIntegration(purpose.target) ? "" : next}`, { value: branch });
  }
  const owner = await ownerOfBranch(tx, branch);
  if (owner === undefined) return undefined;
  return invalid(field, `is the work of the agent ${owner.name}, which lands on a target`, { value: branch });
}

/** Is this the landing branch of a target for work without a run, by its name or by the one earlier versions gave it? */
export async function isLandingOf(tx: Tx, landing: string, target: string): Promise<boolean> {
  if (landing === ownLanding(target)) return true;
  if (landing !== formerLanding(target)) return false;
  const begun = await tx.mergeOps.list({ kind: "begin", status: "done", ref: `refs/heads/${landing}` });
  const [last] = begun.filter(({ request }) => request.target !== undefined);
  return last?.request.target === target;
}

/**
 * Did this entry bring the target's own commits into the landing branch, as a promotion does first? Those commits are
 * on the target in any case. Taking them out of the landing branch would take them out of the target with the next
 * promotion.
 */
export async function isOfTarget(tx: Tx, entry: MergeEntry): Promise<boolean> {
  const { branch, targetBranch: landing } = entry;
  if (!isIntegration(landing)) return false;
  if (bringsTarget(entry) && !(await isQueuedAgain(tx, entry))) return true;
  if (await isLandingOf(tx, landing, branch)) return true;
  const promotions = await tx.mergeOps.list({ kind: "promote", ref: `refs/heads/${branch}` });
  return promotions.some(({ request }) => request.landing === landing);
}

/** Earlier versions queued the branch of a person as an entry of the engine when it was taken out and queued again. */
async function isQueuedAgain(tx: Tx, { id, branch, targetBranch }: MergeEntry): Promise<boolean> {
  const entries = await tx.merges.list({ branch, statuses: ["reverted"] });
  return entries.some((other) => other.id < id && other.targetBranch === targetBranch && !bringsTarget(other));
}

/** The landing branch that an earlier version made for this target, where there is one with another name than today's. */
export async function formerLandingOf(tx: Tx, target: string): Promise<string | undefined> {
  const former = formerLanding(target);
  return former !== ownLanding(target) && (await isLandingOf(tx, former, target)) ? former : undefined;
}

/**
 * The newest known commit of the target under a landing branch: where it was begun, the last commit of the target that
 * it took in, the last promotion, or the operator's decision. Null when none is on record.
 */
export async function restsOn(
  tx: Tx,
  { landing, target }: Record<"landing" | "target", string>,
): Promise<string | null> {
  const landed = await onLanding(tx, { landing, target });
  for (const op of await tx.mergeOps.list({ ref: `refs/heads/${target}`, status: "done" })) {
    const { kind, request, undoneBy, beforeCommit, afterCommit } = op;
    if (request.landing !== landing) continue;
    const promoted = kind === "promote" && undoneBy === null && beforeCommit !== afterCommit ? afterCommit : null;
    const commit = kind === "accept" ? (request.base ?? null) : promoted;
    if (commit === null) continue;
    return landed === undefined || wasLater(op, landed.op) ? commit : landed.commit;
  }
  return landed?.commit ?? null;
}

/** What the newest operation on the landing branch brought there of its target. Older ones cannot have a newer commit. */
async function onLanding(
  tx: Tx,
  { landing, target }: Record<"landing" | "target", string>,
): Promise<{ readonly op: MergeOp; readonly commit: string } | undefined> {
  for (const op of await tx.mergeOps.list({ ref: `refs/heads/${landing}` })) {
    if (op.status !== "done") continue;
    if (op.request.target === target && op.request.base !== undefined) return { op, commit: op.request.base };
    for (const id of op.queueIds) {
      const entry = await tx.merges.get(id);
      if (entry?.branch === target && entry.status === "merged") return { op, commit: entry.headCommit };
    }
  }
  return undefined;
}

/** A landing branch as the record has it. */
export interface KnownLanding {
  readonly branch: string;
  /** The number of the merge by which the target's newest commits could not be taken in; null when none failed. */
  readonly notTakenIn: number | null;
  /** The newest known commit of the target under it; null when none is on record. */
  readonly restsOn: string | null;
}

interface Landings {
  readonly branches: readonly string[];
  readonly landings: readonly KnownLanding[];
}

/**
 * The branches on which work for this target was put instead, by the newest run first. Of a run that has one, its own
 * alone.
 */
export const landingsOf: UseCase<{ readonly target: string; readonly runId?: string | null | undefined }, Landings> = {
  kind: "read",
  request: fields({ target: text }, { runId: orNull(text) }),
  run: async (tx, _context, { target, runId }) => {
    const own = runId == null ? undefined : (await tx.runs.get(runId))?.landingBranch;
    const runs = await tx.runs.list(remembered);
    const all = runs.filter((run) => run.targetBranch === target).map((run) => run.landingBranch ?? "");
    const former = await formerLandingOf(tx, target);
    const found = own == null ? [...all, ...(former === undefined ? [] : [former])] : [own];
    const branches = [...new Set(found.filter(isIntegration))];
    const landings: KnownLanding[] = [];
    for (const landing of branches) {
      const [notTakenIn, base] = [await failedTakeIn(tx, landing, target), await restsOn(tx, { landing, target })];
      landings.push({ branch: landing, notTakenIn, restsOn: base });
    }
    return ok({ branches, landings });
  },
};

/**
 * Is this entry about to land by itself? An entry that is blocked, met trouble or rests is tried again later, so
 * nothing waits for it.
 */
export const isUnderWay = ({ status, approval, cause, notBefore }: MergeEntry, now: number): boolean =>
  status === "merging" ||
  status === "gating" ||
  (status === "pending" && approval !== "waiting" && cause === null && notBefore <= now);

/** The entry by which a landing branch is about to take in its target's own commits; undefined when there is none. */
export async function takeInUnderWay(tx: Tx, landing: string, now: number): Promise<MergeEntry | undefined> {
  const open = await tx.merges.list({ statuses: ["pending", "merging", "gating"] });
  return open.findLast((entry) => entry.targetBranch === landing && bringsTarget(entry) && isUnderWay(entry, now));
}

/** The newest try to take the target's own commits into a landing branch, when it failed. */
export async function failedTakeIn(tx: Tx, landing: string, target: string): Promise<number | null> {
  const tries = (await tx.merges.list({ branch: target })).filter((entry) => entry.targetBranch === landing);
  const last = tries.filter(({ status }) => status !== "cancelled" && status !== "superseded").at(-1);
  const isFailed = last?.status === "failed" || last?.status === "conflict" || last?.status === "blocked";
  return isFailed ? last.id : null;
}

/** What `ov merge promote` must name to promote the landing branch with this purpose. */
export async function promotionOf(tx: Tx, purpose: Purpose | null): Promise<Promotion> {
  if (purpose === null) return { runId: null, target: null };
  const { target, run } = purpose;
  if (run === null) return { runId: null, target };
  return { runId: run.id === (await tx.runs.current())?.id ? null : run.id, target: null };
}

interface LeftTips {
  /** Where the last operation that is over left the branch. */
  readonly last: string | null;
  /** Where operations that are on their way may have moved it by now. */
  readonly intended: readonly string[];
}

/** Where our operations left a landing branch, as far as the record tells. */
export async function leftTips(tx: Tx, landing: string): Promise<LeftTips> {
  const ops = await tx.mergeOps.list({ ref: `refs/heads/${landing}` });
  // A promotion that found nothing to do says nothing about the commits it found.
  const isMove = ({ kind, beforeCommit, afterCommit }: MergeOp): boolean =>
    afterCommit !== null && (kind !== "promote" || beforeCommit !== afterCommit);
  const done = ops.find((op) => op.status === "done" && isMove(op));
  const open = ops.filter(({ status }) => status === "intended");
  return { last: done?.afterCommit ?? null, intended: open.flatMap(({ afterCommit }) => afterCommit ?? []) };
}

type Looking = Pick<MergeGit, "commitOf" | "contains">;

/**
 * Those of these landing branches that still exist, in the same order, each with whether the target at `tip` contains
 * it.
 */
export async function earlierLandings(
  merging: Looking,
  branches: Iterable<string>,
  tip: string,
): Promise<LandingFacts["earlier"]> {
  const found: { branch: string; promoted: boolean }[] = [];
  for (const branch of branches) {
    const landed = await merging.commitOf(`refs/heads/${branch}`);
    if (landed !== undefined) found.push({ branch, promoted: await merging.contains(tip, landed) });
  }
  return found;
}

interface LandingPlace {
  /** Where the branch is; null when there is none. */
  readonly from: string | null;
  /** Where work that lands on it begins. */
  readonly at: string;
}

/** Where a landing branch begins: a new one, or one that the target contains, at the target's tip. */
export async function landingPlace(merging: Looking, branch: string, tip: string): Promise<LandingPlace> {
  const from = (await merging.commitOf(`refs/heads/${branch}`)) ?? null;
  const holdsNothing = from === null || from === tip || (await merging.contains(tip, from));
  return { from, at: holdsNothing ? tip : from };
}
