import { join } from "node:path";
import type { Conflict } from "../src/domain/merge/conflict.ts";
import { gitMerging } from "../src/host/git/merge/merging.ts";
import type { MergeGit, ObjectMerge } from "../src/ports/merge-git.ts";
import { type GitWorld, gitWorld } from "./contracts/worktrees/world.ts";

/** A repository with the means to merge in it. */
export interface GitMergeWorld extends GitWorld {
  readonly merging: MergeGit;
  readonly pool: string;
  readonly scratch: string;
  /** Commits an edit on a branch, made at `from` when it is new, and answers the commit. The checkout ends on `main`. */
  branch(name: string, edit: () => void, from?: string): string;
  tip(ref: string): string;
  /** A file of a tree or commit. */
  show(tree: string, path: string): string;
}

export interface GitMergeWorldOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly format?: string;
  readonly hookLimitMs?: number;
  readonly idleMs?: number;
}

export function gitMergeWorld({
  hookLimitMs = 60_000,
  idleMs = 5_000,
  ...options
}: GitMergeWorldOptions = {}): GitMergeWorld {
  const world = gitWorld(options);
  const pool = join(world.root, "..", "pool");
  const scratch = join(world.root, "..", "scratch");
  const git = (...args: string[]): string => world.git(world.root, ...args);
  return {
    ...world,
    pool,
    scratch,
    merging: gitMerging(world.root, { poolDir: pool, scratch, hookLimitMs, idleMs }),
    tip: (ref) => git("rev-parse", ref),
    show: (tree, path) => git("show", `${tree}:${path}`),
    branch: (name, edit, from = "main") => {
      const isNew = git("branch", "--list", name) === "";
      git("checkout", "--quiet", ...(isNew ? ["-b", name, from] : [name]));
      edit();
      git("add", "-A");
      git("commit", "--quiet", "--allow-empty", "-m", `work on ${name}`);
      const commit = git("rev-parse", "HEAD");
      git("checkout", "--quiet", "--force", "main");
      return commit;
    },
  };
}

/** The conflicts of a merge that must have some. */
export function conflictsOf(merge: ObjectMerge): readonly Conflict[] {
  if (merge.kind !== "conflicts") throw new Error(`a merge with conflicts was expected: ${JSON.stringify(merge)}`);
  return merge.conflicts;
}

/** The tree of a merge that must be clean. */
export function treeOf(merge: ObjectMerge): string {
  if (merge.kind !== "clean") throw new Error(`a clean merge was expected: ${JSON.stringify(merge)}`);
  return merge.tree;
}
