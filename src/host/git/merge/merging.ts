import { filterSentence } from "../../../domain/trust/filters.ts";
import type { MergeGit } from "../../../ports/merge-git.ts";
import { fileRules, problemsWith } from "../filters.ts";
import { openRepository } from "../repository.ts";
import { lostPointers } from "../submodules/lost-pointers.ts";
import { refsBelow } from "../yard.ts";
import { readAttributes } from "./attributes.ts";
import { committer } from "./commit.ts";
import { type Ground, makeGround } from "./ground.ts";
import {
  baseOf,
  blobAt,
  changedFiles,
  changedFilesOfEach,
  commitOf,
  contains,
  differing,
  linksAt,
  messagesSince,
  patch,
  patchOf,
  readBlob,
  refsBetween,
  refsWith,
  subjectOf,
  treeOf,
} from "./history.ts";
import { runHooks, standingHooks } from "./hooks.ts";
import { isClean } from "./in-the-way.ts";
import { finishMoves, moveCheckout } from "./move-checkout.ts";
import { objectMerger } from "./object-merge.ts";
import { checkOut, keepInstalled } from "./pool.ts";
import { checkoutsOf, updateRefs } from "./refs.ts";
import { mergeOver, revert } from "./revert.ts";
import { withFiles } from "./with-files.ts";

export interface MergingOptions {
  /** Where commits are checked out for gates. */
  readonly poolDir: string;
  /** Where directories of one operation are made; nobody else may write there. */
  readonly scratch: string;
  /** How long one hook may take. */
  readonly hookLimitMs?: number;
  /** How long a program that signs may take: one that asks for a passphrase would wait for ever. */
  readonly signingLimitMs?: number;
  /** How long a directory stays in the scratch directory after its last use, for the next one. */
  readonly idleMs?: number;
}

const oneMinute = 60_000;
const aFewSeconds = 5_000;

/** Merging in the repository at `root`. */
export function gitMerging(root: string, options: MergingOptions): MergeGit {
  const { poolDir, scratch, hookLimitMs = oneMinute, idleMs = aFewSeconds } = options;
  const repository = openRepository(root);
  let opened: Promise<Workshop> | undefined;
  const shop = (): Promise<Workshop> => {
    opened ??= repository().then((known) =>
      openWorkshop(makeGround({ repository: known, scratch, idleMs }), options.signingLimitMs),
    );
    return opened;
  };
  const ground = async (): Promise<Ground> => (await shop()).ground;
  return {
    commitOf: async (ref) => commitOf(await ground(), ref),
    treeOf: async (commit) => treeOf(await ground(), commit),
    baseOf: async (one, other) => baseOf(await ground(), one, other),
    contains: async (into, commit) => contains(await ground(), into, commit),
    changedFiles: async (from, to) => changedFiles(await ground(), from, to),
    changedFilesOfEach: async (from, heads) => changedFilesOfEach(await ground(), from, heads),
    differing: async (pairs) => differing(await ground(), pairs),
    messagesSince: async (from, to) => messagesSince(await ground(), from, to),
    patchOf: async (from, to, paths) => patchOf(await ground(), from, to, paths),
    patch: async (from, to) => patch(await ground(), from, to),
    subjectOf: async (commit) => subjectOf(await ground(), commit),
    lostPointers: async (from, to) => lostPointers(await ground(), from, to),
    merge: async (ours, theirs) => (await shop()).merger.merge({ ours, theirs }),
    mergePairs: async (pairs) => (await shop()).merger.mergePairs(pairs),
    mergeOver: async (base, ours, theirs) => mergeOver(await ground(), (await shop()).merger, { base, ours, theirs }),
    revert: async (commit, onto) => revert(await ground(), (await shop()).merger, { commit, onto }),
    blobAt: async (commit, path) => blobAt(await ground(), commit, path),
    linksAt: async (commit, paths) => linksAt(await ground(), commit, paths),
    readBlob: async (oid) => readBlob(await ground(), oid),
    isUnion: async (commit, path) => {
      const { attributes } = await shop();
      return await attributes.mergeIs(await attributes.of(commit), path, "union");
    },
    withFiles: async (tree, files) => withFiles(await ground(), tree, files),
    commit: async (request) => (await shop()).commit(request),
    updateRefs: async (changes, reason, onLockRemoved) => updateRefs(await ground(), changes, reason, onLockRemoved),
    refsBelow: async (prefix) =>
      (await refsBelow(await ground(), prefix)).map(({ name, commit }) => ({ ref: name, commit })),
    refsWith: async (commit) => refsWith(await ground(), commit),
    refsBetween: async (from, to) => refsBetween(await ground(), from, to),
    checkoutsOf: async (branch) => checkoutsOf(await ground(), branch),
    isClean,
    moveCheckout: async (request) => moveCheckout({ scratch, commonDir: (await repository()).commonDir }, request),
    finishMoves: async (reach) => finishMoves({ scratch, commonDir: (await repository()).commonDir }, reach),
    filterProblem: async (commit) => {
      const problems = await problemsWith(await repository(), commit);
      return problems.length === 0 ? undefined : problems.map(filterSentence).join("; ");
    },
    hooks: async () => {
      const { trusted, unconfirmed } = await standingHooks(await ground());
      const names = (hooks: readonly { readonly name: string }[]): readonly string[] => hooks.map(({ name }) => name);
      return { trusted: names(trusted), unconfirmed: names(unconfirmed) };
    },
    runHooks: async (request) => runHooks(await ground(), { ...request, limitMs: hookLimitMs }),
    formOfFiles: async () => (await fileRules(await repository())).digest,
    checkOut: async (slot, commit, keep) => checkOut(await ground(), { poolDir, slot, commit, keep }),
    keepInstalled: async (slot, commit, keep) => keepInstalled(await ground(), { poolDir, slot, commit, keep }),
  };
}

type Workshop = ReturnType<typeof openWorkshop>;

const openWorkshop = (ground: Ground, signingLimitMs: number | undefined) => {
  const attributes = readAttributes(ground);
  return { ground, attributes, merger: objectMerger(ground, attributes), commit: committer(ground, signingLimitMs) };
};
