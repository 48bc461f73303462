import { expect, test } from "bun:test";
import { gitWorld } from "../../../../testkit/contracts/worktrees/world.ts";
import { gitWorktrees } from "../worktrees.ts";

test("files that came with what landed meanwhile are not the agent's, unless it changed them too", async () => {
  using world = gitWorld();
  const worktrees = gitWorktrees(world.root);
  const owned = world.worktree("a1", "linked");
  const made = await worktrees.create({ ...owned, baseRef: "main" });
  const baseCommit = made.ok ? made.value.baseCommit : null;
  const commit = (where: string, path: string, text: string): void => {
    world.write(where, path, text);
    world.git(where, "add", "--", path);
    world.git(where, "commit", "--quiet", "-m", path);
  };
  commit(owned.path, "own.txt", "mine\n");
  commit(owned.path, "both.txt", "mine\n");
  commit(world.root, "landed.txt", "theirs\n");
  world.git(owned.path, "merge", "--quiet", "--no-edit", "main");
  commit(world.root, "later.txt", "theirs\n");
  commit(owned.path, "landed.txt", "and mine\n");
  const filesFor = async (baseRef: string | null) => (await worktrees.inspect({ ...owned, baseCommit, baseRef })).files;
  expect(await filesFor("main")).toEqual(["both.txt", "landed.txt", "own.txt"]);
  world.git(owned.path, "revert", "--no-edit", "HEAD");
  expect(await filesFor("main")).toEqual(["both.txt", "own.txt"]);
  expect(await filesFor("gone")).toEqual(["both.txt", "landed.txt", "own.txt"]);
  expect(await filesFor(null)).toEqual(["both.txt", "landed.txt", "own.txt"]);
  // Its history has what landed, and its files have not.
  world.git(owned.path, "merge", "--quiet", "--no-edit", "--strategy=ours", "main");
  expect(await filesFor("main")).toEqual(["both.txt", "later.txt", "own.txt"]);
});

test("nothing of ours commits in a clone, whose repository is the agent's; it says how to have it done", async () => {
  using world = gitWorld();
  const worktrees = gitWorktrees(world.root);
  const owned = world.worktree("a1", "clone");
  await worktrees.create({ ...owned, baseRef: "main" });
  world.write(owned.path, "rest.txt", "rest\n");
  const head = world.git(owned.path, "rev-parse", "HEAD");
  expect(await worktrees.commitRest(owned, "rest")).toEqual({
    problem: "it works in a clone of its own, in which only the agent commits",
    fix: expect.stringContaining("ov mail send --to a1"),
  });
  expect(world.git(owned.path, "rev-parse", "HEAD")).toBe(head);
});
