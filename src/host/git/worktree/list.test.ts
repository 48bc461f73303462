import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitWorld } from "../../../../testkit/contracts/worktrees/world.ts";
import { gitWorktree } from "./list.ts";

/** A repository with one more worktree, of whose entry in git's list one file is still empty. */
function halfAdded() {
  const world = gitWorld();
  const path = join(world.root, "..", "half");
  world.git(world.root, "worktree", "add", "--quiet", "--detach", path);
  const commondir = join(world.root, ".git", "worktrees", "half", "commondir");
  writeFileSync(commondir, "");
  return { world, path, commondir, [Symbol.dispose]: () => world[Symbol.dispose]() };
}

test("an entry that is half there is waited for", async () => {
  using scene = halfAdded();
  const listing = gitWorktree(scene.world.root, "list", "--porcelain");
  await Bun.sleep(30);
  writeFileSync(scene.commondir, "../..\n");
  expect(await listing).toMatchObject({ code: 0, out: expect.stringContaining(`worktree ${scene.path}\n`) });
});

test("one that stays so is told about in the end, and other failures at once", async () => {
  using scene = halfAdded();
  expect(await gitWorktree(scene.world.root, "list")).toMatchObject({ err: expect.stringContaining("commondir") });
  rmSync(join(scene.commondir, ".."), { recursive: true });
  expect(await gitWorktree(scene.world.root, "remove", "nowhere")).toMatchObject({
    err: expect.stringContaining("not a working tree"),
  });
});
