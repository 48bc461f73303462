import { filterSentence } from "../../domain/trust/filters.ts";
import type { MergeGit } from "../../ports/merge-git.ts";
import { isClean } from "./checkout-move/in-the-way.ts";
import { checkoutProblem, finishMoves, moveCheckout } from "./checkout-move/move-checkout.ts";
import { fileRules, problemsWith } from "./filters.ts";
import { checkOut, keepInstalled } from "./gate-places/pool.ts";
import { readAttributes } from "./merge/attributes.ts";
import { committer, withFiles } from "./merge/commit.ts";
import {
  baseOf,
  blobAt,
  changedFiles,
  changedFilesOfEach,
  commitOf,
  commitsSince,
  contains,
  differing,
  hasChangesOf,
  hasMerges,
  leavingPointsOfEach,
  linksAt,
  linksOf,
  messagesSince,
  objectsAt,
  patch,
  patchOf,
  readBlob,
  readBlobs,
  refsBetween,
  refsWith,
  subjectOf,
  treeOf,
  unusableNames,
} from "./merge/history.ts";
import { hooksPath, runHooks, standingHooks } from "./merge/hooks.ts";
import { type MergeRepository, openMergeRepository } from "./merge/merge-repository.ts";
import { objectMerger } from "./merge/object-merge.ts";
import { mergeOver, revert } from "./merge/revert.ts";
import { unreadable } from "./merge/unreadable.ts";
import { checkoutsOf, headLogs, updateRefs } from "./merge/update-refs.ts";
import { refsBelow } from "./refs.ts";
import { type OpenRepository, openRepository } from "./repository.ts";
import { comparing, lostPointers } from "./submodules/lost-pointers.ts";

export interface MergingOptions {
  /** Where commits are checked out for gates. */
  readonly poolDir: string;
  /** Where directories of one operation are made. No other process may write there. */
  readonly scratch: string;
  /** How long one hook may take. */
  readonly hookLimitMs?: number;
  /** How long a program that signs may take. A program that asks for a passphrase would wait for ever. */
  readonly signingLimitMs?: number;
  /** How long git may take to merge two commits. */
  readonly mergeLimitMs?: number | undefined;
  /** How long a directory stays in the scratch directory after its last use, for the next one. */
  readonly idleMs?: number;
  /** The repository, where others of the same process read it as well. */
  readonly repository?: OpenRepository | undefined;
}

const oneMinute = 60_000;
const aFewSeconds = 5_000;

/** Merging in the repository at `root`. */
export function gitMerging(root: string, options: MergingOptions): MergeGit {
  const { poolDir, scratch, hookLimitMs = oneMinute, idleMs = aFewSeconds } = options;
  const { repository = openRepository(root) } = options;
  let opened: Promise<MergeTools> | undefined;
  const tools = (): Promise<MergeTools> => {
    opened ??= repository().then((known) =>
      openTools(openMergeRepository({ repository: known, scratch, idleMs }), options),
    );
    return opened;
  };
  const mergeRepo = async (): Promise<MergeRepository> => (await tools()).mergeRepo;
  return {
    commitOf: async (ref) => commitOf(await mergeRepo(), ref),
    treeOf: async (commit) => treeOf(await mergeRepo(), commit),
    baseOf: async (one, other) => baseOf(await mergeRepo(), one, other),
    contains: async (into, commit) => contains(await mergeRepo(), into, commit),
    changedFiles: async (from, to) => changedFiles(await mergeRepo(), from, to),
    leavingPoints: async (from, heads) => leavingPointsOfEach(await mergeRepo(), from, heads),
    changedFilesOfEach: async (from, heads) => changedFilesOfEach(await mergeRepo(), from, heads),
    differing: async (pairs) => differing(await mergeRepo(), pairs),
    messagesSince: async (from, to) => messagesSince(await mergeRepo(), from, to),
    patchOf: async (from, to, paths) => patchOf(await mergeRepo(), from, to, paths),
    patch: async (from, to, paths, form) => patch(await mergeRepo(), from, to, paths, form),
    commitsSince: async (from, to, which) => commitsSince(await mergeRepo(), from, to, which),
    hasMerges: async (from, heads) => hasMerges(await mergeRepo(), from, heads),
    hasChangesOf: async (into, commit) => hasChangesOf(await mergeRepo(), into, commit),
    subjectOf: async (commit) => subjectOf(await mergeRepo(), commit),
    lostPointers: async (from, to) => lostPointers(await mergeRepo(), from, to),
    expectMerges: async () => {
      // What the caller asks git for meanwhile is needed sooner, and starts first.
      await new Promise(setImmediate);
      try {
        const { merger, mergeRepo, readAhead } = await tools();
        readAhead();
        await Promise.all([merger.start(), mergeRepo.through(async (own) => own.start(comparing))]);
      } catch {
        // The merge that needs it starts it again, and says why that fails.
      }
    },
    merge: async (ours, theirs) => {
      const { merger, readAhead } = await tools();
      readAhead();
      return merger.merge({ ours, theirs });
    },
    mergePairs: async (pairs) => (await tools()).merger.mergePairs(pairs),
    mergeOver: async (base, ours, theirs) =>
      mergeOver(await mergeRepo(), (await tools()).merger, { base, ours, theirs }),
    revert: async (commit, onto) => revert(await mergeRepo(), (await tools()).merger, { commit, onto }),
    blobAt: async (commit, path) => blobAt(await mergeRepo(), commit, path),
    readBlobs: async (oids) => readBlobs(await mergeRepo(), oids),
    objectsAt: async (places) => objectsAt(await mergeRepo(), places),
    linksAt: async (commit, paths) => linksAt(await mergeRepo(), commit, paths),
    linksOf: async (commit) => linksOf(await mergeRepo(), commit),
    unusableNames: async (from, to) => unusableNames(await mergeRepo(), from, to),
    unreadable: async (from, to, of) => unreadable(await mergeRepo(), from, to, of),
    readBlob: async (oid) => readBlob(await mergeRepo(), oid),
    isUnion: async (commit, path) => {
      const { attributes } = await tools();
      return await attributes.mergeIs(await attributes.of(commit), path, "union");
    },
    withFiles: async (tree, files) => withFiles(await mergeRepo(), tree, files),
    commit: async (request) => (await tools()).commit(request),
    updateRefs: async (changes, reason, onLockRemoved) => updateRefs(await mergeRepo(), changes, reason, onLockRemoved),
    refsBelow: async (...prefixes) =>
      (await refsBelow(await mergeRepo(), ...prefixes)).map(({ name, commit }) => ({ ref: name, commit })),
    refsWith: async (commit) => refsWith(await mergeRepo(), commit),
    refsBetween: async (from, to) => refsBetween(await mergeRepo(), from, to),
    checkoutsOf: async (branch) => checkoutsOf(await mergeRepo(), branch),
    headLogs: async () => headLogs(await mergeRepo(), poolDir),
    checkoutProblem,
    isClean,
    moveCheckout: async (request) => moveCheckout({ scratch, commonDir: (await repository()).commonDir }, request),
    finishMoves: async (reach) => finishMoves({ scratch, commonDir: (await repository()).commonDir }, reach),
    filterProblem: async (commit) => {
      const problems = await problemsWith(await repository(), commit);
      return problems.length === 0 ? undefined : problems.map(filterSentence).join("; ");
    },
    hooks: async () => {
      const { trusted, unconfirmed } = await standingHooks(await mergeRepo());
      const names = (hooks: readonly { readonly name: string }[]): readonly string[] => hooks.map(({ name }) => name);
      return { trusted: names(trusted), unconfirmed: names(unconfirmed) };
    },
    runHooks: async (request) => runHooks(await mergeRepo(), { ...request, limitMs: hookLimitMs }),
    formOfFiles: async () => (await fileRules(await repository())).digest,
    checkOut: async (slot, commit, keep) => checkOut(await mergeRepo(), { poolDir, slot, commit, keep }),
    keepInstalled: async (slot, commit, keep) => keepInstalled(await mergeRepo(), { poolDir, slot, commit, keep }),
  };
}

type MergeTools = ReturnType<typeof openTools>;

const openTools = (
  mergeRepo: MergeRepository,
  { signingLimitMs, mergeLimitMs }: Pick<MergingOptions, "signingLimitMs" | "mergeLimitMs">,
) => {
  const attributes = readAttributes(mergeRepo);
  const commits = committer(mergeRepo, signingLimitMs);
  return {
    mergeRepo,
    attributes,
    merger: objectMerger(mergeRepo, attributes, {
      stays: true,
      ...(mergeLimitMs === undefined ? {} : { limitMs: mergeLimitMs }),
    }),
    commit: commits.commit,
    /** Most merges are followed by a commit. The facts that the commit needs are read while git merges. */
    readAhead: (): void => {
      // If it fails, the commit reads it again and says why.
      for (const read of [commits.readAhead(), hooksPath(mergeRepo.repository)]) read.catch(() => undefined);
    },
  };
};
