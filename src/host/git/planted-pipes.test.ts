import { expect, test } from "bun:test";
import { constants, mkdirSync, openSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type GitWorld, gitWorld, requestFor } from "../../../testkit/contracts/worktrees/world.ts";
import { gitMerging } from "./merging.ts";
import { gitWorktrees } from "./worktrees.ts";

/** Puts a pipe in the place of a file. */
function plant(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { force: true });
  expect(Bun.spawnSync({ cmd: ["mkfifo", path] }).success).toBe(true);
}

/** Does a process wait to read from this pipe? Then it can be opened for writing. */
function isAwaited(path: string): boolean {
  try {
    openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    return true;
  } catch {
    return false;
  }
}

const problemOf = async (work: () => Promise<unknown>): Promise<string> =>
  work().then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );

async function seatedIn(world: GitWorld) {
  const owned = world.worktree("ann", "linked");
  expect(await gitWorktrees(world.root).create(requestFor(owned))).toMatchObject({ ok: true });
  world.write(owned.path, "src/z.js", "z\n");
  return owned;
}

test.each(["src/.gitattributes", ".gitattributes", ".gitignore"])(
  "a pipe in the place of %s in a worktree is named, and no git waits on it",
  async (name) => {
    using world = gitWorld();
    const owned = await seatedIn(world);
    const path = join(owned.path, name);
    plant(path);
    const worktrees = gitWorktrees(world.root);
    for (const work of [() => worktrees.inspect(owned), () => worktrees.snapshot(owned)]) {
      expect(await problemOf(work)).toBe(
        `${path} cannot be read by git: it is a pipe, where a file belongs; remove it: rm ${path}`,
      );
    }
    expect(isAwaited(path)).toBe(false);
    rmSync(path);
    expect(await worktrees.inspect(owned)).toMatchObject({ files: expect.arrayContaining(["src/z.js"]) });
  },
  60_000,
);

test.each(["config", "packed-refs", "objects/info/alternates"])(
  "a pipe in the place of .git/%s is named, and no git waits on it",
  async (name) => {
    using world = gitWorld();
    const owned = await seatedIn(world);
    const path = join(world.root, ".git", name);
    plant(path);
    const merging = gitMerging(world.root, {
      poolDir: join(world.root, "../pool"),
      scratch: join(world.root, "../own"),
    });
    for (const work of [() => gitWorktrees(world.root).inspect(owned), () => merging.changedFiles("main", "main")]) {
      expect(await problemOf(work)).toBe(`${path} cannot be read: it is a pipe`);
    }
    expect(isAwaited(path)).toBe(false);
  },
  60_000,
);
