import { join } from "node:path";
import type { ObjectMerge } from "../../../ports/merge-git.ts";
import { expectGit } from "../git.ts";
import type { OwnDir } from "../own-dir.ts";
import { type MergeRepository, openView } from "./merge-repository.ts";
import type { ObjectMerger } from "./object-merge.ts";

/** A revert merges the parent of the commit, with the commit itself as the common ancestor. */
export async function revert(
  mergeRepo: MergeRepository,
  merger: ObjectMerger,
  { commit, onto }: { readonly commit: string; readonly onto: string },
): Promise<ObjectMerge> {
  using aside = openView(mergeRepo, { objects: "scratch" });
  return await mergeAside(aside, merger, { base: commit, ours: onto, theirs: await treeBefore(aside, commit) });
}

/** Applies to `ours` the changes from `base` to `theirs`, whatever their common history is. */
export async function mergeOver(
  mergeRepo: MergeRepository,
  merger: ObjectMerger,
  { base, ours, theirs }: { readonly base: string; readonly ours: string; readonly theirs: string },
): Promise<ObjectMerge> {
  using aside = openView(mergeRepo, { objects: "scratch" });
  return await mergeAside(aside, merger, { base, ours, theirs: `${theirs}^{tree}` });
}

/**
 * Git of this age takes no common ancestor from outside. So this makes three commits with that history in a scratch
 * repository. `theirs` is a tree.
 */
async function mergeAside(
  aside: OwnDir,
  merger: ObjectMerger,
  {
    base: ancestor,
    ours: onto,
    theirs: tree,
  }: { readonly base: string; readonly ours: string; readonly theirs: string },
): Promise<ObjectMerge> {
  const base = await standIn(aside, `${ancestor}^{tree}`);
  const [ours, theirs] = await Promise.all([
    standIn(aside, `${onto}^{tree}`, { parent: base, name: "ours" }),
    standIn(aside, tree, { parent: base, name: "theirs" }),
  ]);
  const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(aside.dir, "objects") };
  return await merger.merge({ ours, theirs, attributesOf: onto }, env);
}

/** The empty tree for a first commit; of a merge, its first parent counts. */
async function treeBefore(own: OwnDir, commit: string): Promise<string> {
  const shown = await own.git(["rev-parse", "--verify", "--quiet", "--end-of-options", `${commit}^1^{tree}`]);
  if (shown.code === 0) return shown.out.trim();
  return expectGit(
    await own.git(["hash-object", "-t", "tree", "-w", "--stdin"], { stdin: "" }),
    "the empty tree",
  ).out.trim();
}

async function standIn(
  own: OwnDir,
  tree: string,
  { parent, name = "base" }: { readonly parent?: string; readonly name?: string } = {},
): Promise<string> {
  const parents = parent === undefined ? [] : ["-p", parent];
  return expectGit(await own.git(["commit-tree", tree, ...parents, "-m", name]), "preparing a merge").out.trim();
}
