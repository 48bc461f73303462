import { applies } from "../../domain/gate/verdict.ts";
import type { MergeCause, ResolutionTier } from "../../domain/merge/entry.ts";
import { landingBranchFor } from "../../domain/merge/landing-branch.ts";
import { pairKey } from "../../domain/merge/radar.ts";
import { takenOut, type WordAboutBranch } from "../../domain/merge/taken-out.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, list, noFields, orNull, text } from "../../domain/schema/schema.ts";
import type {
  AheadGit,
  ConflictInPlace,
  LookingGit,
  ObjectMerge,
  ResolvedFile,
  Settled,
} from "../../ports/merge-git.ts";
import type { Settings } from "../../ports/settings.ts";
import { heads, tipsOf } from "../branches/branches.ts";
import type { Effect } from "../operation.ts";
import { commandFor, isMadeAgain, standIn } from "./generated-files.ts";
import { earlierLandings, landingPlace } from "./landing/landing-target.ts";
import { type BranchRecord, filesBrought, hasCommit } from "./landing/taken-out.ts";
import { judgePairs, type RadarCell, type RadarReply } from "./radar.ts";

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
  request: fields({ target: text, runId: orNull(text), candidates: list(fields({ branch: text, headCommit: text })) }),
  place: "engine",
  run: async (world, request) => {
    const landings = await world.call("merge.landings", { target: request.target });
    if (!landings.ok) return landings;
    const branches = request.candidates.map(({ branch }) => branch);
    const record = await world.call("merge.readRecord", { branches, runId: request.runId });
    if (!record.ok) return record;
    const terms = { settings: await world.settings(), landings: landings.value.branches, record: record.value };
    return ok({ predictions: await world.lookAhead((git) => predict(git, request, terms)) });
  },
};

interface PredictTerms {
  readonly settings: Settings;
  readonly landings: readonly string[];
  /** What the record says about each candidate. */
  readonly record: BranchRecord;
}

async function predict(
  git: AheadGit,
  request: PredictRequest,
  { settings, landings, record }: PredictTerms,
): Promise<readonly PredictedMerge[]> {
  const onto = await landingTip(git, { ...request, landings });
  const tips = request.candidates.map(async ({ branch, headCommit }) =>
    headCommit === "" ? await git.commitOf(heads + branch) : await git.commitOf(headCommit),
  );
  const found = await Promise.all(tips);
  const candidates = found.map((head, at) => ({
    head,
    words: record.words[at] ?? [],
    landed: record.landed[at] ?? null,
    target: record.target,
  }));
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
export async function landingTip(
  git: Pick<LookingGit, "commitOf" | "checkoutsOf" | "contains" | "baseOf" | "refsBelow">,
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

/** What would become of a branch if it were landed now. */
interface Prediction {
  readonly predictedTier: ResolutionTier;
  /** Files whose conflicts rules would settle; if some remain, the files that an agent or a person must settle. */
  readonly conflictFiles: readonly string[];
  readonly wouldRequireAgent: boolean;
  readonly reason: string;
  readonly strategy: string | null;
  readonly cause: MergeCause | null;
}

interface PredictPorts {
  readonly merging: Pick<
    LookingGit,
    "merge" | "revert" | "revertOf" | "contains" | "commitOf" | "withFiles" | "commit"
  >;
  /** The ladder that the merge worker climbs. */
  resolve(conflict: ConflictInPlace): Promise<Settled>;
}

/** What would land. */
interface Candidate {
  /** Undefined: there is no such branch. */
  readonly head: string | undefined;
  /** What the record says about its branch. */
  readonly words: readonly WordAboutBranch[];
  /** The commit that landed it last. */
  readonly landed: string | null;
  /** The user's branch that it is meant for. */
  readonly target: string;
}

/**
 * Merges these heads onto `onto`, one upon the other as a train would, in a place whose objects vanish. A head that
 * cannot be merged is left out of the following ones. Never rejects: a branch that cannot be predicted is predicted to
 * need an agent.
 */
async function predictTrain(
  ports: PredictPorts,
  onto: string,
  candidates: readonly Candidate[],
): Promise<readonly Prediction[]> {
  const predictions: Prediction[] = [];
  let tip = onto;
  for (const candidate of candidates) {
    const { prediction, next } = await predictOne(ports, tip, candidate).catch((error: unknown) => ({
      prediction: unpredictable(error instanceof Error ? error.message : String(error), "git_error"),
      next: tip,
    }));
    predictions.push(prediction);
    tip = next;
  }
  return predictions;
}

/** The prediction for what cannot be looked at. */
const unpredictable = (why: string, cause: MergeCause): Prediction =>
  needsSomebody({ conflictFiles: [], reason: `prediction-failed: ${why}`, cause });

interface Step {
  readonly prediction: Prediction;
  /** What the next one would be merged onto. */
  readonly next: string;
}

async function predictOne(ports: PredictPorts, tip: string, { head, words, landed, target }: Candidate): Promise<Step> {
  const { merging } = ports;
  if (head === undefined) return { prediction: unpredictable("there is no such branch", "missing_ref"), next: tip };
  const isContained = await merging.contains(tip, head);
  const out = await takenOut(words, hasCommit(merging, tip));
  if (out.length === 0) {
    if (isContained) {
      const reason = (await usersRevert(merging, [tip, heads + target], landed ?? head)) ?? "already contained";
      return { prediction: byRule(null, [], reason), next: tip };
    }
    return attempt(ports, { tip, head }, await merging.merge(tip, head));
  }
  // For git, work that was taken out is merged already. So it is brought back first, as the merge worker does.
  let step: Step = { prediction: byRule("redo", [], bringsBack), next: tip };
  for (const by of new Set(out.map((one) => one.by))) {
    step = await attempt(ports, { tip: step.next, head }, await merging.revert(by, step.next));
    if (step.prediction.wouldRequireAgent) return { ...step, next: tip };
  }
  if (!isContained) step = await attempt(ports, { tip: step.next, head }, await merging.merge(step.next, head));
  if (step.prediction.wouldRequireAgent) return { ...step, next: tip };
  const { strategy, conflictFiles } = step.prediction;
  return { ...step, prediction: byRule(strategy ?? "redo", conflictFiles, bringsBack) };
}

/** Git takes what a user reverted for merged, so landing the branch again would change nothing. */
async function usersRevert(
  merging: Pick<LookingGit, "commitOf" | "contains" | "revertOf">,
  into: readonly string[],
  landed: string,
): Promise<string | undefined> {
  for (const ref of into) {
    const tip = await merging.commitOf(ref);
    if (tip === undefined || !(await hasCommit(merging, tip)(landed))) continue;
    const by = (await merging.revertOf(landed, tip))?.slice(0, 12);
    if (by === undefined) continue;
    return `already contained, but ${by} took it out again by git revert; to bring it back: git revert ${by}`;
  }
  return undefined;
}

const bringsBack = "it landed and was taken out again; this brings it back";

async function attempt(
  ports: PredictPorts,
  { tip, head }: { readonly tip: string; readonly head: string },
  merged: ObjectMerge,
): Promise<Step> {
  switch (merged.kind) {
    case "clean":
      return go(ports, { tip, head, tree: merged.tree }, byRule(null, [], "merges without conflicts"));
    case "unrelated": {
      const reason = "the branches have no common history";
      return {
        prediction: needsSomebody({ conflictFiles: [], reason, cause: "no_common_history" }),
        next: tip,
      };
    }
    case "failed":
      return { prediction: unpredictable(merged.problem, "git_error"), next: tip };
    case "conflicts":
      return settle(ports, { tip, head }, merged);
  }
}

async function settle(
  ports: PredictPorts,
  { tip, head }: { readonly tip: string; readonly head: string },
  { tree, conflicts }: Extract<ObjectMerge, { kind: "conflicts" }>,
): Promise<Step> {
  const files: ResolvedFile[] = [];
  const strategies = new Set<string>();
  const open: { readonly path: string; readonly reason: string }[] = [];
  for (const conflict of conflicts) {
    const answer = await ports.resolve({ conflict, ours: tip, theirs: head });
    if (answer.kind === "escalate") open.push({ path: conflict.path, reason: answer.reason });
    else {
      files.push(answer.file);
      strategies.add(answer.strategy);
    }
  }
  const [first] = open;
  if (first !== undefined) {
    const more = open.length === 1 ? "" : ` (and ${open.length - 1} more)`;
    const reason = `${first.path}: ${first.reason}${more}`;
    const conflictFiles = open.map(({ path }) => path);
    return { prediction: needsSomebody({ conflictFiles, reason, cause: "conflict" }), next: tip };
  }
  const strategy = [...strategies].toSorted().join("+");
  const paths = conflicts.map(({ path }) => path);
  const prediction = byRule(strategy, paths, `rules settle every conflict (${strategy})`);
  return go(ports, { tip, head, tree: await ports.merging.withFiles(tree, files) }, prediction);
}

async function go(
  { merging }: PredictPorts,
  { tip, head, tree }: { readonly tip: string; readonly head: string; readonly tree: string },
  prediction: Prediction,
): Promise<Step> {
  const next = await merging.commit({ tree, parents: [tip, head], message: "prediction\n" });
  return { prediction, next };
}

const byRule = (strategy: string | null, conflictFiles: readonly string[], reason: string): Prediction => ({
  predictedTier: strategy === null ? "clean-merge" : "auto-resolve",
  conflictFiles,
  wouldRequireAgent: false,
  reason,
  strategy,
  cause: null,
});

const needsSomebody = (why: Pick<Prediction, "conflictFiles" | "reason" | "cause">): Prediction => ({
  predictedTier: "ai-resolve",
  wouldRequireAgent: true,
  strategy: null,
  ...why,
});

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
  request: fields({ branch: text, headCommit: text, targetBranch: text, resultCommit: orNull(text) }),
  place: "engine",
  run: async (world, request) =>
    world.lookAhead(async (git) => {
      const change = await changeBroughtBy(git, request);
      return change.ok ? ok({ patch: await git.patch(change.value.from, change.value.to) }) : change;
    }),
};

/** The two commits whose difference is what a landing brought, or what a head would bring to the branch. */
export async function changeBroughtBy(
  git: LookingGit,
  { branch, headCommit, targetBranch, resultCommit }: PatchRequest,
): Promise<Result<{ readonly from: string; readonly to: string }, Refusal>> {
  const head = headCommit === "" ? await git.commitOf(heads + branch) : await git.commitOf(headCommit);
  if (head === undefined) return no(notFound("branch", branch));
  const landed = resultCommit === null ? undefined : await git.commitOf(resultCommit);
  if (landed !== undefined && (await git.commitOf(`${landed}^2`)) === head)
    return ok({ from: `${landed}^1`, to: landed });
  const onto = await git.commitOf(heads + targetBranch);
  if (onto === undefined) return no(notFound("branch", targetBranch));
  return ok({ from: (await git.baseOf(onto, head)) ?? onto, to: head });
}

/** Which live branches would collide. Pairs without a stored result are judged now; nothing is stored. */
export const showRadar: Effect<object, RadarReply> = {
  kind: "effect",
  request: noFields,
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
