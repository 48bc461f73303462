import { applies } from "../../domain/gate/applies.ts";
import { landingBranchFor } from "../../domain/merge/landing-branch.ts";
import { pairKey } from "../../domain/merge/radar.ts";
import { takenOut, type WordAboutBranch } from "../../domain/merge/taken-out.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import type { AheadGit } from "../../ports/merge-git.ts";
import type { Settings } from "../../ports/settings.ts";
import { heads, tipsOf } from "../branches/branches.ts";
import type { Effect } from "../operation.ts";
import { commandFor, isMadeAgain, standIn } from "./generated-files.ts";
import { judgePairs } from "./judge-pairs.ts";
import { earlierLandings, landingPlace } from "./landing-place.ts";
import { type Prediction, predictTrain, unpredictable } from "./predict.ts";
import type { RadarCell, RadarView } from "./radar.ts";
import { filesBrought, hasCommit } from "./taken-out.ts";

export interface PredictRequest {
  /** The branch it is meant for. */
  readonly target: string;
  readonly runId: string | null;
  /** What would land, in this order. Without a commit, the tip of the branch. */
  readonly candidates: readonly { readonly branch: string; readonly headCommit: string }[];
}

export interface PredictedMerge extends Prediction {
  /** Gates that would look at it, by name. */
  readonly gatesLikely: readonly string[];
}

/** What the merge worker would make of these, by the same rules, on top of where they would land now. Changes nothing. */
export const predictMerges: Effect<PredictRequest, { readonly predictions: readonly PredictedMerge[] }> = {
  kind: "effect",
  place: "engine",
  run: async (world, request) => {
    const landings = await world.call("merge.landings", { target: request.target });
    if (!landings.ok) return landings;
    const branches = request.candidates.map(({ branch }) => branch);
    const record = await world.call("merge.readRecord", { branches, runId: request.runId });
    if (!record.ok) return record;
    const terms = { settings: await world.settings(), landings: landings.value.branches, words: record.value.words };
    return ok({ predictions: await world.lookAhead((git) => predict(git, request, terms)) });
  },
};

interface PredictTerms {
  readonly settings: Settings;
  readonly landings: readonly string[];
  /** What the record says about each candidate. */
  readonly words: readonly (readonly WordAboutBranch[])[];
}

async function predict(
  git: AheadGit,
  request: PredictRequest,
  { settings, landings, words }: PredictTerms,
): Promise<readonly PredictedMerge[]> {
  const onto = await landingTip(git, { ...request, landings });
  const tips = request.candidates.map(async ({ branch, headCommit }) =>
    headCommit === "" ? await git.commitOf(heads + branch) : await git.commitOf(headCommit),
  );
  const found = await Promise.all(tips);
  const candidates = found.map((head, at) => ({ head, words: words[at] ?? [] }));
  if (onto === undefined) {
    const prediction = unpredictable(`there is no branch ${request.target}`, "missing_ref");
    return candidates.map(() => ({ ...prediction, gatesLikely: [] }));
  }
  const resolve: AheadGit["resolve"] = async (place) => {
    if (!isMadeAgain(settings, place.conflict)) return git.resolve(place);
    return { kind: "resolved", file: await standIn(git, place.conflict), strategy: "regenerate" };
  };
  const predictions = await predictTrain({ merging: git, resolve }, onto, candidates);
  const { qualityGates } = settings.project;
  return Promise.all(
    predictions.map(async (prediction, at) => {
      const { head, words: about = [] } = candidates[at] ?? {};
      const out = await takenOut(about, hasCommit(git, onto));
      const isOpen = head === undefined || prediction.wouldRequireAgent;
      const changed = isOpen ? [] : await filesBrought(git, { onto, head, out });
      const gates = changed.length === 0 ? [] : qualityGates.filter((gate) => applies(gate, changed));
      return { ...prediction, gatesLikely: gates.map(({ name }) => name) };
    }),
  );
}

/** Where work for the target would be put now; as the merge worker decides it, but without making the branch. */
async function landingTip(
  git: AheadGit,
  { target, runId, landings }: Omit<PredictRequest, "candidates"> & { readonly landings: readonly string[] },
): Promise<string | undefined> {
  const tip = await git.commitOf(heads + target);
  if (tip === undefined) return undefined;
  const targetCheckedOut = (await git.checkoutsOf(target)).length > 0;
  if (!targetCheckedOut) return tip;
  const earlier = await earlierLandings(git, landings, tip);
  const landing = landingBranchFor({ target, runId, targetCheckedOut, earlier });
  return (await landingPlace(git, landing, tip)).at;
}

/** See `listChanges`. `words`: what the record says about the branch. */
export async function changesOf(
  git: AheadGit,
  { target, commit: head }: { readonly target: string; readonly commit: string },
  words: readonly WordAboutBranch[],
): Promise<readonly string[]> {
  const onto = await landingTip(git, { target, runId: null, landings: [] });
  if (onto === undefined) return [];
  return filesBrought(git, { onto, head, out: await takenOut(words, hasCommit(git, onto)) });
}

export interface PatchRequest {
  readonly branch: string;
  /** Empty: the tip of the branch. */
  readonly headCommit: string;
  readonly targetBranch: string;
  readonly resultCommit: string | null;
}

/** What a commit brings, as a patch: what a landing brought, or what a head would bring to the branch. */
export const showPatch: Effect<PatchRequest, { readonly patch: string }> = {
  kind: "effect",
  place: "engine",
  run: async (world, { branch, headCommit, targetBranch, resultCommit }) =>
    world.lookAhead(async (git) => {
      const head = headCommit === "" ? await git.commitOf(heads + branch) : await git.commitOf(headCommit);
      if (head === undefined) return no(notFound("branch", branch));
      const landed = resultCommit === null ? undefined : await git.commitOf(resultCommit);
      if (landed !== undefined && (await git.commitOf(`${landed}^2`)) === head)
        return ok({ patch: await git.patch(`${landed}^1`, landed) });
      const onto = await git.commitOf(heads + targetBranch);
      if (onto === undefined) return no(notFound("branch", targetBranch));
      return ok({ patch: await git.patch((await git.baseOf(onto, head)) ?? onto, head) });
    }),
};

/** Which live branches would collide. What nobody has looked at is looked at now; nothing of it is stored. */
export const showRadar: Effect<object, RadarView> = {
  kind: "effect",
  place: "engine",
  run: async (world) => {
    const found = await world.call("merge.readRadar", { tips: await world.lookAhead(tipsOf) });
    if (!found.ok) return found;
    const open = new Map(
      found.value.pairs.filter(({ outcome }) => outcome === null).map((pair) => [pairKey(pair), pair]),
    );
    if (open.size === 0) return found;
    const settings = await world.settings();
    const isGenerated = (path: string): boolean => commandFor(settings, path) !== undefined;
    const commits = [...open.values()].map(({ ours, theirs }) => ({ ours, theirs }));
    const judged = await world.lookAhead((git) =>
      judgePairs({ merging: git, resolve: (conflict) => git.resolve(conflict), isGenerated }, commits),
    );
    const known = new Map(judged.map((pair) => [pairKey(pair), pair]));
    const pairs = found.value.pairs.map((pair): RadarCell => {
      const { outcome, files } = (pair.outcome === null ? known.get(pairKey(pair)) : undefined) ?? pair;
      return { ...pair, outcome, files };
    });
    return ok({ ...found.value, pairs });
  },
};
