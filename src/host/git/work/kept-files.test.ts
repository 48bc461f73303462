import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitWorld, requestFor } from "../../../../testkit/contracts/worktrees/world.ts";
import type { WorktreeKeeping } from "../../../ports/worktrees.ts";
import { gitWorktrees } from "../worktrees.ts";

/** Git stores `\n`, and a checkout has `\r\n`. */
async function crlfWorld(maxFileBytes: number) {
  const world = gitWorld();
  world.write(world.root, ".gitattributes", "*.txt text eol=crlf\n");
  world.git(world.root, "add", "-A");
  world.git(world.root, "commit", "--quiet", "-m", "attributes");
  const worktrees = gitWorktrees(world.root, { maxFileBytes });
  const owned = world.worktree("ann", "linked");
  const created = await worktrees.create(requestFor(owned));
  if (!created.ok) throw new Error(created.refusal.problem);
  return { world, worktrees, owned, [Symbol.dispose]: () => world[Symbol.dispose]() };
}

async function lastOf(worktrees: WorktreeKeeping) {
  const kept = (await worktrees.snapshots()).at(-1);
  if (kept === undefined) throw new Error("nothing is kept");
  return kept;
}

const crlf = "one\r\ntwo\r\n";

for (const [what, maxFileBytes] of [
  ["that a snapshot stores as bytes", 1_000],
  ["that is too large for that", 4],
] as const) {
  test(`a staged file ${what} becomes its stored form on a branch and its own bytes in a directory`, async () => {
    using seated = await crlfWorld(maxFileBytes);
    const { world, worktrees, owned } = seated;
    world.write(owned.path, "staged.txt", crlf);
    world.git(owned.path, "add", "-A");
    await worktrees.snapshot(owned);
    const kept = await lastOf(worktrees);
    const dir = join(dirname(world.root), "back");
    expect(await worktrees.exportFiles(kept, dir)).toBeGreaterThan(1);
    expect(readFileSync(join(dir, "staged.txt"), "utf8")).toBe(crlf);
    const commit = await worktrees.commitKept(kept, "back");
    expect(world.git(world.root, "rev-parse", `${commit}:staged.txt`)).toBe(
      world.git(owned.path, "rev-parse", ":staged.txt"),
    );
  });
}

test("what was staged in a worktree whose files are gone is checked out like any other file", async () => {
  using seated = await crlfWorld(1_000);
  const { world, worktrees, owned } = seated;
  world.write(owned.path, "staged.txt", crlf);
  world.git(owned.path, "add", "-A");
  rmSync(owned.path, { recursive: true });
  await worktrees.snapshot(owned);
  const dir = join(dirname(world.root), "back");
  await worktrees.exportFiles(await lastOf(worktrees), dir);
  expect(readFileSync(join(dir, "staged.txt"), "utf8")).toBe(crlf);
});

test("deleted files, moved files, links and modes are on the branch as the worktree had them", async () => {
  using seated = await crlfWorld(1_000);
  const { world, worktrees, owned } = seated;
  for (const [path, text] of [
    ["gone.txt", "g"],
    ["dir/old.txt", "o"],
    ["run.sh", "x"],
  ] as const) {
    world.write(owned.path, path, text);
  }
  world.git(owned.path, "add", "-A");
  world.git(owned.path, "commit", "--quiet", "-m", "files");
  const shell = Bun.spawnSync({
    cmd: ["sh", "-c", "rm gone.txt; mv dir/old.txt kept; rmdir dir; mv kept dir; chmod +x run.sh; ln -s run.sh link"],
    cwd: owned.path,
  });
  expect(shell.exitCode).toBe(0);
  await worktrees.snapshot(owned);
  const commit = await worktrees.commitKept(await lastOf(worktrees), "back");
  const plain = treeIn(owned.path);
  expect(world.git(world.root, "rev-parse", `${commit}^{tree}`)).toBe(plain);

  await worktrees.remove(owned, { deleteBranch: null });
  const again = requestFor(owned);
  await worktrees.intendRestore(again);
  expect((await worktrees.create({ ...again, baseRef: owned.branch })).ok).toBe(true);
  await worktrees.restore(owned);
  expect(treeIn(owned.path)).toBe(plain);

  function treeIn(path: string): string {
    world.git(path, "add", "-A");
    return world.git(path, "write-tree");
  }
});
