import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LookingGit, StaleSubmodules } from "../../ports/merge-git.ts";
import { makeWithin } from "../file-access.ts";
import { expectGit, git } from "./git.ts";
import { scratchName } from "./leftovers.ts";
import { readAttributes } from "./merge/attributes.ts";
import { withFiles } from "./merge/commit.ts";
import { fileChanges } from "./merge/file-changes.ts";
import {
  baseOf,
  blobAt,
  changedFiles,
  commitOf,
  commitsSince,
  contains,
  differing,
  objectsAt,
  patch,
  readBlob,
  readBlobs,
  revertOf,
  treeOf,
} from "./merge/history.ts";
import { type MergeRepository, openMergeRepository } from "./merge/merge-repository.ts";
import { objectMerger } from "./merge/object-merge.ts";
import { mergeOver, revert } from "./merge/revert.ts";
import { changes } from "./merge/tracked.ts";
import { checkoutsOf } from "./merge/update-refs.ts";
import { refsBelow } from "./refs.ts";
import { openRepository } from "./repository.ts";

/** Git to look with, in a directory that is removed with it. */
export type ScratchGit = LookingGit & Disposable;

/** A submodule that is not checked out has nothing to be brought up to date. */
async function submodulesBehind(mergeRepo: MergeRepository, branch: string, commits: { from: string; to: string }) {
  const found: StaleSubmodules[] = [];
  for (const checkout of await checkoutsOf(mergeRepo, branch)) {
    if (!existsSync(checkout)) continue;
    const links = (await changes(checkout, commits, "d")).filter(({ mode }) => mode === "160000");
    const paths: string[] = [];
    for (const { path, oid } of links) {
      const name = Buffer.from(path, "latin1").toString();
      const dir = join(checkout, name);
      if (!existsSync(join(dir, ".git"))) continue;
      const head = await git(dir, "rev-parse", "--verify", "--quiet", "HEAD");
      if (head.out.trim() !== oid) paths.push(name);
    }
    if (paths.length > 0) found.push({ checkout, paths });
  }
  return found;
}

/**
 * Merging in the repository at `root` that leaves nothing behind: new objects go to a directory, outside of the project
 * unless `within` says otherwise, that reads from it and vanishes with this; its commits have no real author, so no key
 * is asked for.
 */
export async function scratchMerging(root: string, within = tmpdir()): Promise<ScratchGit> {
  const known = await openRepository(root)();
  makeWithin(within, 3);
  const dir = realpathSync(mkdtempSync(join(within, scratchName("ov-merge"))));
  const objects = join(dir, "objects");
  mkdirSync(join(objects, "info"), { recursive: true });
  writeFileSync(join(objects, "info", "alternates"), `${known.objects}\n`);
  const mergeRepo = openMergeRepository({ repository: { ...known, objects }, scratch: join(dir, "views"), idleMs });
  const attributes = readAttributes(mergeRepo);
  const merger = objectMerger(mergeRepo, attributes);
  return {
    commitOf: (ref) => commitOf(mergeRepo, ref),
    treeOf: (commit) => treeOf(mergeRepo, commit),
    contains: (into, commit) => contains(mergeRepo, into, commit),
    changedFiles: (from, to) => changedFiles(mergeRepo, from, to),
    commitsSince: (from, to, which) => commitsSince(mergeRepo, from, to, which),
    differing: (pairs) => differing(mergeRepo, pairs),
    patch: (from, to, paths, form) => patch(mergeRepo, from, to, paths, form),
    fileChanges: (from, to, form) => fileChanges(mergeRepo, from, to, form),
    merge: (ours, theirs) => merger.merge({ ours, theirs }),
    mergePairs: (pairs) => merger.mergePairs(pairs),
    mergeOver: (base, ours, theirs) => mergeOver(mergeRepo, merger, { base, ours, theirs }),
    revertOf: (commit, into) => revertOf(mergeRepo, commit, into),
    revert: (commit, onto) => revert(mergeRepo, merger, { commit, onto }),
    readBlob: (oid) => readBlob(mergeRepo, oid),
    blobAt: (commit, path) => blobAt(mergeRepo, commit, path),
    readBlobs: (oids) => readBlobs(mergeRepo, oids),
    objectsAt: (places) => objectsAt(mergeRepo, places),
    isUnion: async (commit, path) => attributes.mergeIs(await attributes.of(commit), path, "union"),
    withFiles: (tree, files) => withFiles(mergeRepo, tree, files),
    commit: async ({ tree, parents, message }) => {
      const args = ["commit-tree", ...parents.flatMap((parent) => ["-p", parent]), tree];
      const answer = await mergeRepo.through((own) => own.git(args, { stdin: message }));
      return expectGit(answer, "writing a commit").out.trim();
    },
    refsBelow: async (...prefixes) =>
      (await refsBelow(mergeRepo, ...prefixes)).map(({ name, commit }) => ({ ref: name, commit })),
    checkoutsOf: (branch) => checkoutsOf(mergeRepo, branch),
    submodulesBehind: (branch, commits) => submodulesBehind(mergeRepo, branch, commits),
    baseOf: (one, other) => baseOf(mergeRepo, one, other),
    [Symbol.dispose]: () => {
      mergeRepo.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const idleMs = 5_000;
