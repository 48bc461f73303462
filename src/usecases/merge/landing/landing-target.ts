import type { MergeEntry } from "../../../domain/merge/entry.ts";
import { formerLanding, isIntegration, type LandingFacts, ownLanding } from "../../../domain/merge/landing-branch.ts";
import type { Promotion } from "../../../domain/merge/words.ts";
import { ok } from "../../../domain/result.ts";
import type { Run } from "../../../domain/run/run.ts";
import { fields, text } from "../../../domain/schema/schema.ts";
import type { MergeGit } from "../../../ports/merge-git.ts";
import type { Tx } from "../../../ports/store.ts";
import type { Context, UseCase } from "../../usecase.ts";

/** Where branches of this run land: where it was decided to, else what it is meant for, else the project's own branch. */
export async function targetOf(tx: Tx, { settings }: Pick<Context, "settings">, runId: string | null): Promise<string> {
  const run = runId === null ? undefined : await tx.runs.get(runId);
  return run?.landingBranch ?? run?.targetBranch ?? settings.project.canonicalBranch;
}

/** How many of the newest runs are looked through for those of one landing branch, or of one target. */
const remembered = 200;

export interface Purpose {
  /** The branch that what lands here is promoted to. */
  readonly target: string;
  /** The newest run that lands here. Null: work that somebody queued for another branch than its run's, or without a run. */
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
export async function isOfTarget(tx: Tx, { branch, targetBranch: landing }: MergeEntry): Promise<boolean> {
  if (!isIntegration(landing)) return false;
  if (await isLandingOf(tx, landing, branch)) return true;
  const promotions = await tx.mergeOps.list({ kind: "promote", ref: `refs/heads/${branch}` });
  return promotions.some(({ request }) => request.landing === landing);
}

/** The landing branch that an earlier version made for this target, where there is one with another name than today's. */
export async function formerLandingOf(tx: Tx, target: string): Promise<string | undefined> {
  const former = formerLanding(target);
  return former !== ownLanding(target) && (await isLandingOf(tx, former, target)) ? former : undefined;
}

/** The branches on which work for this target was put instead, by the newest run first. */
export const landingsOf: UseCase<{ readonly target: string }, { readonly branches: readonly string[] }> = {
  kind: "read",
  request: fields({ target: text }),
  run: async (tx, _context, { target }) => {
    const runs = await tx.runs.list(remembered);
    const landings = runs.filter((run) => run.targetBranch === target).map((run) => run.landingBranch ?? "");
    const former = await formerLandingOf(tx, target);
    const all = former === undefined ? landings : [...landings, former];
    return ok({ branches: [...new Set(all.filter(isIntegration))] });
  },
};

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
  const done = ops.find(({ status, afterCommit }) => status === "done" && afterCommit !== null);
  const open = ops.filter(({ status }) => status === "intended");
  return { last: done?.afterCommit ?? null, intended: open.flatMap(({ afterCommit }) => afterCommit ?? []) };
}

type Looking = Pick<MergeGit, "commitOf" | "contains">;

/** Which of these landing branches still exist, in the same order, and whether the target at `tip` has what is on them. */
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

/** A landing branch that is new, or holds nothing that the target does not have, begins at the target's tip. */
export async function landingPlace(merging: Looking, branch: string, tip: string): Promise<LandingPlace> {
  const from = (await merging.commitOf(`refs/heads/${branch}`)) ?? null;
  const holdsNothing = from === null || from === tip || (await merging.contains(tip, from));
  return { from, at: holdsNothing ? tip : from };
}
