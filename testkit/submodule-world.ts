import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { WorktreeKind } from "../src/domain/agent/agent.ts";
import { gitMerging } from "../src/host/git/merging.ts";
import { gitWorktrees } from "../src/host/git/worktrees.ts";
import type { MergeGit } from "../src/ports/merge-git.ts";
import { type GitWorld, gitWorld, requestFor } from "./contracts/worktrees/world.ts";

export interface SubmoduleWorldOptions {
  /** The path of the submodule in the project. */
  readonly path?: string;
  readonly name?: string;
  /** `relative`: as `../lib.git` in `.gitmodules`. */
  readonly url?: "absolute" | "relative";
  /** Files of the submodule besides `conf.ini`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/**
 * A project with a submodule, which has a submodule of its own at `inner`. The remotes they were cloned from are gone:
 * whoever needs them fails.
 */
export interface SubmoduleWorld extends GitWorld {
  readonly path: string;
  readonly name: string;
  readonly merging: MergeGit;
  /** The user's module. */
  readonly module: string;
  commit(dir: string, file: string, text: string): string;
  /** Every configuration file of the user's modules, the project's own, and the links in the user's checkout. */
  configurations(): Readonly<Record<string, string>>;
  refs(prefix: string, module?: string): readonly string[];
}

export function submoduleWorld(options: SubmoduleWorldOptions = {}): SubmoduleWorld {
  const { path = "lib", url = "absolute" } = options;
  const name = options.name ?? path;
  const world = gitWorld();
  const base = dirname(world.root);
  const git = world.git;
  const commit = (dir: string, file: string, text: string): string => {
    world.write(dir, file, text);
    git(dir, "add", "-A");
    git(dir, "commit", "--quiet", "-m", `change ${file}`);
    return git(dir, "rev-parse", "HEAD");
  };
  const remote = (called: string): string => {
    const dir = join(base, `${called}.git`);
    mkdirSync(dir);
    git(dir, "init", "--quiet", "--initial-branch=main");
    return dir;
  };
  git(world.root, "config", "--global", "protocol.file.allow", "always");
  const inner = remote("inner");
  commit(inner, "deep.txt", "deep\n");
  const lib = remote("lib");
  for (const [file, bytes] of Object.entries(options.files ?? {})) world.write(lib, file, bytes);
  world.write(lib, ".gitignore", "*.log\n");
  commit(lib, "conf.ini", "[conf]\n");
  git(lib, "submodule", "--quiet", "add", url === "relative" ? "../inner.git" : inner, "inner");
  git(lib, "commit", "--quiet", "-m", "inner");
  if (url === "relative") git(world.root, "remote", "add", "origin", join(base, "project.git"));
  const from = url === "relative" ? "../lib.git" : lib;
  git(world.root, "submodule", "--quiet", "add", "--name", name, from, path);
  git(world.root, "submodule", "--quiet", "update", "--init", "--recursive");
  git(world.root, "commit", "--quiet", "-m", "submodule");
  for (const gone of [inner, lib]) Bun.spawnSync({ cmd: ["rm", "-rf", gone] });
  const module = git(join(world.root, path), "rev-parse", "--absolute-git-dir");
  return {
    ...world,
    path,
    name,
    module,
    merging: gitMerging(world.root, { poolDir: join(base, "pool"), scratch: join(base, "scratch") }),
    commit,
    configurations: () => {
      const files = [
        join(world.root, ".git", "config"),
        join(world.root, path, ".git"),
        ...configsBelow(join(world.root, ".git", "modules")),
      ].filter((file) => existsSync(file));
      return Object.fromEntries(files.map((file) => [relative(world.root, file), readFileSync(file, "utf8")]));
    },
    refs: (prefix, at = module) =>
      git(world.root, `--git-dir=${at}`, "--work-tree=.", "for-each-ref", "--format=%(refname)", prefix)
        .split("\n")
        .filter((line) => line !== ""),
  };
}

const configsBelow = (dir: string): readonly string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === "config")
    .map((entry) => join(entry.parentPath, entry.name));

export type SeatedSubmodules = Awaited<ReturnType<typeof seatedSubmodules>>;

/** The same with a worktree for one agent, ann. `sub` is the submodule in that worktree. */
export async function seatedSubmodules(
  kind: Exclude<WorktreeKind, "root"> = "linked",
  options: SubmoduleWorldOptions = {},
) {
  const world = submoduleWorld(options);
  const worktrees = gitWorktrees(world.root);
  const owned = world.worktree("ann", kind);
  const created = await worktrees.create(requestFor(owned));
  if (!created.ok) throw new Error(created.refusal.problem);
  const sub = join(owned.path, world.path);
  return { world, worktrees, owned, sub, seat: created.value, [Symbol.dispose]: () => world[Symbol.dispose]() };
}
