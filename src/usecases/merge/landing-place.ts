import type { LandingFacts } from "../../domain/merge/landing-branch.ts";
import type { MergeGit } from "../../ports/merge-git.ts";

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

export interface LandingPlace {
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
