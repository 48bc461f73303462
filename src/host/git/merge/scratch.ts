import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LookingGit, StaleSubmodules } from "../../../ports/merge-git.ts";
import { makeWithin } from "../../writable.ts";
import { expectGit, git } from "../git.ts";
import { scratchName } from "../leftovers.ts";
import { openRepository } from "../repository.ts";
import { refsBelow } from "../yard.ts";
import { readAttributes } from "./attributes.ts";
import { type Ground, makeGround } from "./ground.ts";
import { baseOf, changedFiles, commitOf, contains, differing, patch, readBlob, treeOf } from "./history.ts";
import { objectMerger } from "./object-merge.ts";
import { checkoutsOf } from "./refs.ts";
import { mergeOver, revert } from "./revert.ts";
import { changes } from "./tracked.ts";
import { withFiles } from "./with-files.ts";

/** Git to look with, in a directory that is removed with it. */
export type ScratchGit = LookingGit & Disposable;

/** One that is not checked out has nothing to be brought up to date. */
async function submodulesBehind(ground: Ground, branch: string, commits: { from: string; to: string }) {
  const found: StaleSubmodules[] = [];
  for (const checkout of await checkoutsOf(ground, branch)) {
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
 * unless `within` says otherwise, that reads from it and vanishes with this; its commits are nobody's, so no key is
 * asked for.
 */
export async function scratchMerging(root: string, within = tmpdir()): Promise<ScratchGit> {
  const known = await openRepository(root)();
  makeWithin(within, 3);
  const dir = realpathSync(mkdtempSync(join(within, scratchName("ov-merge"))));
  const objects = join(dir, "objects");
  mkdirSync(join(objects, "info"), { recursive: true });
  writeFileSync(join(objects, "info", "alternates"), `${known.objects}\n`);
  const ground = makeGround({ repository: { ...known, objects }, scratch: join(dir, "views"), idleMs });
  const attributes = readAttributes(ground);
  const merger = objectMerger(ground, attributes);
  return {
    commitOf: (ref) => commitOf(ground, ref),
    treeOf: (commit) => treeOf(ground, commit),
    contains: (into, commit) => contains(ground, into, commit),
    changedFiles: (from, to) => changedFiles(ground, from, to),
    differing: (pairs) => differing(ground, pairs),
    patch: (from, to) => patch(ground, from, to),
    merge: (ours, theirs) => merger.merge({ ours, theirs }),
    mergePairs: (pairs) => merger.mergePairs(pairs),
    mergeOver: (base, ours, theirs) => mergeOver(ground, merger, { base, ours, theirs }),
    revert: (commit, onto) => revert(ground, merger, { commit, onto }),
    readBlob: (oid) => readBlob(ground, oid),
    isUnion: async (commit, path) => attributes.mergeIs(await attributes.of(commit), path, "union"),
    withFiles: (tree, files) => withFiles(ground, tree, files),
    commit: async ({ tree, parents, message }) => {
      const args = ["commit-tree", ...parents.flatMap((parent) => ["-p", parent]), tree];
      const answer = await ground.through((own) => own.git(args, { stdin: message }));
      return expectGit(answer, "writing a commit").out.trim();
    },
    refsBelow: async (prefix) => (await refsBelow(ground, prefix)).map(({ name, commit }) => ({ ref: name, commit })),
    checkoutsOf: (branch) => checkoutsOf(ground, branch),
    submodulesBehind: (branch, commits) => submodulesBehind(ground, branch, commits),
    baseOf: (one, other) => baseOf(ground, one, other),
    [Symbol.dispose]: () => {
      ground.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const idleMs = 5_000;
