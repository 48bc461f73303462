import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { WorktreeKind } from "../../../src/domain/agent/agent.ts";
import type { OwnedWorktree, SeatRequest, Worktrees } from "../../../src/ports/worktrees.ts";

/** A repository in a directory of its own, and plain git as a user or an agent runs it. */
export interface GitWorld extends Disposable {
  readonly root: string;
  /** Runs git the way a person would, with the repository's own configuration; throws when it fails. */
  git(cwd: string, ...args: string[]): string;
  write(dir: string, path: string, text: string | Uint8Array): void;
  read(dir: string, path: string): string;
  /** A command that leaves a mark when it runs; it passes on what a filter is given. */
  readonly trap: string;
  sprung(): boolean;
  worktree(agentName: string, kind: WorktreeKind): OwnedWorktree;
}

export function gitWorld(
  options: { readonly files?: Readonly<Record<string, string>>; readonly format?: string } = {},
): GitWorld {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "ov-git-")));
  const root = join(base, "repo");
  const mark = join(base, "sprung");
  const trap = join(base, "trap");
  mkdirSync(root);
  mkdirSync(join(base, "home"));
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat\n`);
  chmodSync(trap, 0o755);
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: join(base, "home"),
    GIT_AUTHOR_NAME: "A",
    GIT_AUTHOR_EMAIL: "a@example.invalid",
    GIT_COMMITTER_NAME: "A",
    GIT_COMMITTER_EMAIL: "a@example.invalid",
  };
  const git = (cwd: string, ...args: string[]): string => {
    const done = Bun.spawnSync({ cmd: ["git", ...args], cwd, env, stdin: "ignore" });
    if (done.exitCode !== 0)
      throw new Error(`git ${args.join(" ")} exited ${done.exitCode}: ${done.stderr.toString()}`);
    return done.stdout.toString().trim();
  };
  const write = (dir: string, path: string, text: string | Uint8Array): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  git(root, "init", "--quiet", "--initial-branch=main", `--object-format=${options.format ?? "sha1"}`);
  for (const [path, text] of Object.entries(options.files ?? sampleFiles)) write(root, path, text);
  git(root, "add", "-A");
  git(root, "commit", "--quiet", "-m", "first");
  return {
    root,
    git,
    write,
    read: (dir, path) => readFileSync(join(dir, path), "utf8"),
    trap,
    sprung: () => existsSync(mark),
    worktree: (agentName, kind) => ({
      agentName,
      generation: 1,
      path: join(root, ".overstory", "worktrees", agentName),
      branch: `overstory/${agentName}/t-1`,
      kind,
      baseCommit: git(root, "rev-parse", "main"),
    }),
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

const sampleFiles = {
  "README.md": "# Sample\n",
  "src/a.ts": "export const a = 1;\n",
  "src/b.ts": "export const b = 1;\n",
  ".gitignore": "*.log\nnode_modules/\n.overstory/\n.env\n",
};

export const requestFor = ({ agentName, branch, path, kind }: OwnedWorktree): SeatRequest => ({
  agentName,
  branch,
  path,
  kind,
  baseRef: "main",
});

/** A repository in which one agent, ann, has a worktree. */
interface Scene<Adapter extends Worktrees> extends Disposable {
  readonly world: GitWorld;
  readonly worktrees: Adapter;
  readonly owned: OwnedWorktree;
  /** Commits in the worktree as its agent would. */
  commit(path: string, text: string): string;
}

/** The adapter and kind of worktree that a contract is about. */
export interface WorktreeSetting<Adapter extends Worktrees = Worktrees> {
  readonly kind: Exclude<WorktreeKind, "root">;
  open(root: string): Adapter;
  seated(): Promise<Scene<Adapter>>;
}

export const worktreeSetting = <Adapter extends Worktrees>(
  kind: WorktreeSetting["kind"],
  open: (root: string) => Adapter,
): WorktreeSetting<Adapter> => ({
  kind,
  open,
  seated: async () => {
    const world = gitWorld();
    const worktrees = open(world.root);
    const owned = world.worktree("ann", kind);
    const created = await worktrees.create(requestFor(owned));
    if (!created.ok) throw new Error(created.refusal.problem);
    const commit = (path: string, text: string): string => {
      world.write(owned.path, path, text);
      world.git(owned.path, "add", "-A");
      world.git(owned.path, "commit", "--quiet", "-m", `change ${path}`);
      return world.git(owned.path, "rev-parse", "HEAD");
    };
    return { world, worktrees, owned, commit, [Symbol.dispose]: () => world[Symbol.dispose]() };
  },
});
