import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { worktreeSetting } from "../../../testkit/contracts/worktrees/world.ts";
import { gitWorktrees } from "./worktrees.ts";

const { seated } = worktreeSetting("linked", (root) => gitWorktrees(root));

test("of a worktree whose directory was deleted, detached commits and staged files are kept before its record goes", async () => {
  using scene = await seated();
  const { world, worktrees, owned } = scene;
  world.git(owned.path, "checkout", "--quiet", "--detach");
  world.write(owned.path, "committed.txt", "c\n");
  world.git(owned.path, "add", "-A");
  world.git(owned.path, "commit", "--quiet", "-m", "beside the branch");
  world.write(owned.path, "staged.txt", "s\n");
  world.git(owned.path, "add", "-A");
  rmSync(owned.path, { recursive: true });
  const snapshot = await worktrees.snapshot(owned);
  await worktrees.remove(owned, { deleteBranch: null });
  world.git(world.root, "gc", "--quiet", "--prune=now");
  expect(world.git(world.root, "show", `${snapshot?.commit}:committed.txt`)).toBe("c");
  expect(world.git(world.root, "show", `${snapshot?.commit}:staged.txt`)).toBe("s");
});

test("of a deleted worktree whose branch holds everything there is nothing to keep", async () => {
  using scene = await seated();
  const { world, worktrees, owned } = scene;
  world.write(owned.path, "committed.txt", "c\n");
  world.git(owned.path, "add", "-A");
  world.git(owned.path, "commit", "--quiet", "-m", "on the branch");
  rmSync(owned.path, { recursive: true });
  expect(await worktrees.snapshot(owned)).toBeUndefined();
});
