import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gitWorld } from "../../../testkit/contracts/worktrees/world.ts";
import { gitWorktrees } from "./worktrees.ts";

async function dirty() {
  const world = gitWorld();
  const worktrees = gitWorktrees(world.root);
  const owned = world.worktree("ann", "linked");
  const { agentName, branch, path } = owned;
  await worktrees.create({ agentName, branch, path, kind: "linked", baseRef: "main" });
  world.write(path, "draft.txt", "mine\n");
  return { world, worktrees, owned, [Symbol.dispose]: () => world[Symbol.dispose]() };
}

test("a ref that cannot be made is a failure in git's words, not a name that is taken", async () => {
  using scene = await dirty();
  const { world, worktrees, owned } = scene;
  world.git(world.root, "update-ref", "refs/overstory/snap/ann", "main");
  expect(worktrees.snapshot(owned)).rejects.toThrow("refs/overstory/snap/ann");
  world.git(world.root, "update-ref", "refs/overstory/rescue", "main");
  await expect(worktrees.rescue(owned)).rejects.toThrow("refs/overstory/rescue");
  expect(world.read(owned.path, "draft.txt")).toBe("mine\n");
});

test("a lock that a dead process left on one ref does not keep the work from being kept under the next", async () => {
  using scene = await dirty();
  const { world, worktrees, owned } = scene;
  const lock = join(world.root, ".git", "refs", "overstory", "snap", "ann", "1", "1.lock");
  mkdirSync(dirname(lock), { recursive: true });
  writeFileSync(lock, "");
  expect(await worktrees.snapshot(owned)).toMatchObject({ ref: "refs/overstory/snap/ann/1/2" });
});

test("a branch whose lock stays is kept with the reason, and is not said to have moved", async () => {
  using scene = await dirty();
  const { world, worktrees, owned } = scene;
  const tip = world.git(world.root, "rev-parse", owned.branch);
  await worktrees.remove(owned, { deleteBranch: null });
  writeFileSync(join(world.root, ".git", "refs", "heads", `${owned.branch}.lock`), "");
  const problem = await worktrees.deleteBranch(owned.branch, tip);
  expect(problem).toContain(".lock");
  expect(problem).not.toContain("moved on");
});

test("a ref below ours whose commit is missing does not keep the snapshots of others from being found", async () => {
  using scene = await dirty();
  const { world, worktrees, owned } = scene;
  await worktrees.snapshot(owned);
  for (const name of ["bob", "ann"])
    world.write(world.root, `.git/refs/overstory/snap/${name}/9/9`, `${"9".repeat(40)}\n`);
  world.write(owned.path, "draft.txt", "mine again\n");
  await worktrees.snapshot(owned);
  expect((await worktrees.snapshots()).map(({ ref }) => ref)).toEqual([
    "refs/overstory/snap/ann/1/1",
    "refs/overstory/snap/ann/1/2",
  ]);
});
