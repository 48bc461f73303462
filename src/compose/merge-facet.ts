import { applies } from "../domain/gate/applies.ts";
import { landingBranchFor } from "../domain/merge/landing-branch.ts";
import { takenOut, type WordAboutBranch } from "../domain/merge/taken-out.ts";
import { nearest } from "../domain/name/nearest.ts";
import { notFound, type Refusal } from "../domain/refusal.ts";
import { no, ok, type Result } from "../domain/result.ts";
import { commandFor } from "../engine/merge/regenerate.ts";
import { resolver } from "../engine/merge/resolve.ts";
import { type ScratchMerging, scratchMerging } from "../host/git/merge/scratch.ts";
import type { MergeFacet, PredictRequest } from "../surfaces/cli/facets/merge.ts";
import { isMadeAgain, standIn } from "../usecases/merge/generated-files.ts";
import { earlierLandings, landingPlace } from "../usecases/merge/landing-place.ts";
import { predictTrain, unpredictable } from "../usecases/merge/predict.ts";
import { filesBrought, hasCommit, wordsAboutAll } from "../usecases/merge/taken-out.ts";
import { ladder } from "./ladder.ts";
import { openStore, type Project, settingsOf } from "./project.ts";

/** What commands learn from git about branches that are to land; each question in a place that vanishes with it. */
export function makeMergeFacet(project: Project): MergeFacet {
  const looking = async <T>(look: (git: ScratchMerging) => Promise<T>): Promise<T> => {
    using git = await scratchMerging(project.root);
    return await look(git);
  };
  return {
    head: (branch) => looking((git) => headOf(git, branch)),
    branches: () => looking(branchesOf),
    changedFiles: (target, of) => looking((git) => changedFiles(project, git, target, of)),
    submodulesBehind: (branch, commits) => looking((git) => git.submodulesBehind(branch, commits)),
    predict: (request) => looking((git) => predict(project, git, request)),
    patch: (of) => looking((git) => patchOf(git, of)),
  };
}

const heads = "refs/heads/";

async function headOf(git: ScratchMerging, branch: string): Promise<Result<string, Refusal>> {
  // From the list, because git takes many a name for a commit that is no branch: `main^` is one.
  const refs = await git.refsBelow(heads);
  const head = refs.find(({ ref }) => ref === heads + branch);
  if (head !== undefined) return ok(head.commit);
  const names = refs.map(({ ref }) => ref.slice(heads.length));
  return no(notFound("branch", branch, nearest(branch, names)));
}

const branchesOf = async (git: ScratchMerging): Promise<readonly string[]> =>
  (await git.refsBelow(heads)).map(({ ref }) => ref.slice(heads.length));

async function changedFiles(
  project: Project,
  git: ScratchMerging,
  target: string,
  { branch, commit: head }: { readonly branch: string; readonly commit: string },
): Promise<readonly string[]> {
  const onto = await landingTip(git, { target, runId: null, landings: [] });
  if (onto === undefined) return [];
  const [words = []] = await wordsOf(project, [branch]);
  return filesBrought(git, { onto, head, out: await takenOut(words, hasCommit(git, onto)) });
}

/** What the record says about each of these branches. */
async function wordsOf(
  project: Project,
  branches: readonly string[],
): Promise<readonly (readonly WordAboutBranch[])[]> {
  const store = openStore(project, { life: "command", readOnly: true });
  try {
    const about = await store.read((tx) => wordsAboutAll(tx));
    return branches.map((branch) => about.get(branch) ?? []);
  } finally {
    await store.close();
  }
}

async function predict(project: Project, git: ScratchMerging, request: PredictRequest) {
  const onto = await landingTip(git, request);
  const tips = request.candidates.map(async ({ branch, headCommit }) =>
    headCommit === "" ? await git.commitOf(heads + branch) : await git.commitOf(headCommit),
  );
  const found = await Promise.all(tips);
  const words = await wordsOf(
    project,
    request.candidates.map(({ branch }) => branch),
  );
  const candidates = found.map((head, at) => ({ head, words: words[at] ?? [] }));
  if (onto === undefined) {
    const prediction = unpredictable(`there is no branch ${request.target}`, "missing_ref");
    return candidates.map(() => ({ ...prediction, gatesLikely: [] }));
  }
  const store = openStore(project, { life: "command", readOnly: true });
  const byRule = resolver(git, ladder(project, store));
  const rules = settingsOf(project);
  const resolve: typeof byRule = async (place) => {
    const isMade = isMadeAgain(place.conflict, (path) => commandFor({ rules }, path));
    if (!isMade) return byRule(place);
    return { kind: "resolved", file: await standIn(git, place.conflict), strategy: "regenerate" };
  };
  const predictions = await predictTrain({ merging: git, resolve }, onto, candidates).finally(() => store.close());
  const { qualityGates } = project.config.project;
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
  git: ScratchMerging,
  { target, runId, landings }: Omit<PredictRequest, "candidates">,
): Promise<string | undefined> {
  const tip = await git.commitOf(heads + target);
  if (tip === undefined) return undefined;
  const targetCheckedOut = (await git.checkoutsOf(target)).length > 0;
  if (!targetCheckedOut) return tip;
  const earlier = await earlierLandings(git, landings, tip);
  const landing = landingBranchFor({ target, runId, targetCheckedOut, earlier });
  return (await landingPlace(git, landing, tip)).at;
}

async function patchOf(
  git: ScratchMerging,
  { branch, headCommit, targetBranch, resultCommit }: Parameters<MergeFacet["patch"]>[0],
): Promise<Result<string, Refusal>> {
  const head = headCommit === "" ? await git.commitOf(heads + branch) : await git.commitOf(headCommit);
  if (head === undefined) return no(notFound("branch", branch));
  const landed = resultCommit === null ? undefined : await git.commitOf(resultCommit);
  if (landed !== undefined && (await git.commitOf(`${landed}^2`)) === head)
    return ok(await git.patch(`${landed}^1`, landed));
  const onto = await git.commitOf(heads + targetBranch);
  if (onto === undefined) return no(notFound("branch", targetBranch));
  return ok(await git.patch((await git.baseOf(onto, head)) ?? onto, head));
}
