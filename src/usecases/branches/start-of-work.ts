import { landingBranchFor } from "../../domain/merge/landing-branch.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, orNull, text } from "../../domain/schema/schema.ts";
import type { AheadGit } from "../../ports/merge-git.ts";
import { earlierLandings, type KnownLanding, landingPlace } from "../merge/landing/landing-target.ts";
import type { Effect } from "../operation.ts";
import { heads } from "./branches.ts";

/** Where the work of a run starts from, and what of the target it lacks there. */
export interface StartOfWork {
  /** The target, or a landing branch with work that the target does not have yet. */
  readonly branch: string;
  readonly commit: string;
  readonly target: string;
  /** Some checkout has the target checked out, so work gathers on a branch of ours. */
  readonly targetCheckedOut: boolean;
  /** How many commits of the target the start does not have. */
  readonly missing: number;
  /**
   * What happens to them. `comes`: they are taken in through the gates before an agent starts. `failed`: they could not
   * be taken in. `rewritten`: the target lost commits that the landing branch rests on, so the promotion asks first.
   */
  readonly missingCommits: "none" | "comes" | "failed" | "rewritten";
  /** The merge by which they could not be taken in. */
  readonly failedMerge: number | null;
  /** Landing branches of which the target has everything, however they were merged. */
  readonly promoted: readonly string[];
}

/**
 * Where a new run for this target would start now, or where the next agent of an existing run starts. Changes nothing.
 */
export const findStart: Effect<{ readonly target: string; readonly runId: string | null }, StartOfWork> = {
  kind: "effect",
  request: fields({ target: text, runId: orNull(text) }),
  place: "engine",
  run: async (world, { target, runId }) => {
    const known = await world.call("merge.landings", { target, runId });
    if (!known.ok) return known;
    const { branches, landings } = known.value;
    const found = await world.lookAhead((git) => startOf(git, { target, runId, branches, landings }));
    if (found === undefined) return no(notFound("branch", target));
    const isBehind = found.branch !== target && !found.hasTarget;
    const missing = isBehind ? await (await world.branches()).commitsBeyond(found.branch, found.tip) : 0;
    const { branch, commit, targetCheckedOut, isRewritten, promoted } = found;
    const failedMerge = landings.find((one) => one.branch === branch)?.notTakenIn ?? null;
    const fate = isRewritten ? "rewritten" : failedMerge === null ? "comes" : "failed";
    const missingCommits = missing === 0 ? "none" : fate;
    return ok({ branch, commit, target, targetCheckedOut, missing, missingCommits, failedMerge, promoted });
  },
};

interface Landings {
  readonly target: string;
  readonly runId: string | null;
  readonly branches: readonly string[];
  readonly landings: readonly KnownLanding[];
}

async function startOf(git: AheadGit, { target, runId, branches, landings }: Landings) {
  const tip = await git.commitOf(heads + target);
  if (tip === undefined) return undefined;
  const targetCheckedOut = (await git.checkoutsOf(target)).length > 0;
  const earlier = await earlierLandings(git, branches, tip);
  const landing = landingBranchFor({ target, runId, targetCheckedOut, earlier });
  const commit = landing === target ? tip : (await landingPlace(git, landing, tip)).at;
  const known = new Set([landing, ...branches]);
  known.delete(target);
  const promoted = (await earlierLandings(git, known, tip)).filter((one) => one.promoted).map((one) => one.branch);
  const at = { tip, commit, targetCheckedOut, promoted };
  // A landing branch without work of its own begins at the target's tip.
  if (commit === tip) return { ...at, branch: target, hasTarget: true, isRewritten: false };
  const base = landings.find((one) => one.branch === landing)?.restsOn ?? null;
  const isRewritten = base !== null && (await git.commitOf(base)) !== undefined && !(await git.contains(tip, base));
  return { ...at, branch: landing, hasTarget: await git.contains(commit, tip), isRewritten };
}
