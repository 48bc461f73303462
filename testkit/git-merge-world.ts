import { chmodSync } from "node:fs";
import { join } from "node:path";
import type { Conflict } from "../src/domain/merge/ladder.ts";
import { trustName } from "../src/domain/project/place.ts";
import { gitMerging } from "../src/host/git/merging.ts";
import { readTrust, writeTrust } from "../src/host/trust-file.ts";
import type { MergeGit, ObjectMerge } from "../src/ports/merge-git.ts";
import { type GitWorld, gitWorld } from "./contracts/worktrees/world.ts";
import { statePath } from "./state.ts";

/** A repository with the means to merge in it. */
export interface GitMergeWorld extends GitWorld {
  readonly merging: MergeGit;
  readonly pool: string;
  readonly scratch: string;
  /** What the operator confirmed. */
  readonly trust: string;
  /** Writes a hook of the project; a confirmed one may run. */
  hook(name: string, body: string, options?: { readonly dir?: string; readonly confirmed?: boolean }): void;
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
  readonly signingLimitMs?: number;
  readonly mergeLimitMs?: number | undefined;
  readonly idleMs?: number;
}

export function gitMergeWorld({
  hookLimitMs = 60_000,
  signingLimitMs = 60_000,
  idleMs = 5_000,
  mergeLimitMs,
  ...options
}: GitMergeWorldOptions = {}): GitMergeWorld {
  const world = gitWorld(options);
  const pool = join(world.root, "..", "pool");
  const scratch = join(world.root, "..", "scratch");
  const trust = statePath(world.root, trustName);
  const git = (...args: string[]): string => world.git(world.root, ...args);
  return {
    ...world,
    pool,
    scratch,
    trust,
    merging: gitMerging(world.root, { poolDir: pool, scratch, hookLimitMs, signingLimitMs, mergeLimitMs, idleMs }),
    hook: (name, body, { dir = ".git/hooks", confirmed = true } = {}) => {
      const text = `#!/bin/sh\n${body}\n`;
      const path = join(world.root, dir, name);
      world.write(world.root, join(dir, name), text);
      chmodSync(path, 0o755);
      const before = readTrust(trust);
      const digest = new Bun.CryptoHasher("sha256").update(text).digest("hex");
      if (confirmed) writeTrust(trust, { ...before, hooks: { ...before.hooks, [path]: digest } });
    },
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

/** A text of thirty lines, some of them changed. */
export const lines = (...changed: readonly [number, string][]): string => {
  const all = Array.from({ length: 30 }, (_, at) => `line ${at}`);
  for (const [at, text] of changed) all[at] = text;
  return `${all.join("\n")}\n`;
};
