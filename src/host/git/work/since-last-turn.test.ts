import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { requestFor } from "../../../../testkit/contracts/worktrees/world.ts";
import { gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { gitWorktrees } from "../worktrees.ts";

async function seated() {
  const world = gitMergeWorld({ files: { "a.txt": "a\n", "b.txt": "b\n" } });
  const worktrees = gitWorktrees(world.root);
  const path = join(world.root, ".overstory", "worktrees", "ann");
  const owned = { agentName: "ann", generation: 1, kind: "linked", branch: "overstory/ann/t", path } as const;
  const seat = await worktrees.create(requestFor({ ...owned, baseCommit: null }));
  if (!seat.ok) throw new Error(seat.refusal.problem);
  const worktree = { ...owned, identity: seat.value.identity, baseCommit: seat.value.baseCommit };
  world.write(path, "a.txt", "mine\n");
  world.git(path, "commit", "--quiet", "-am", "mine");
  const headCommit = world.git(path, "rev-parse", "HEAD");
  return { world, worktrees, worktree, last: { headCommit, ahead: 1, dirty: false } };
}

test("a worktree that is as the last turn left it has no changes", async () => {
  const { world, worktrees, worktree, last } = await seated();
  using _ = world;
  expect(await worktrees.changesSince(worktree, last)).toEqual([]);
});

test("a rebase that a person left half-way is named; one that the agent left is not", async () => {
  const { world, worktrees, worktree, last } = await seated();
  using _ = world;
  world.write(world.root, "a.txt", "theirs\n");
  world.git(world.root, "commit", "--quiet", "-am", "theirs");
  expect(() => world.git(worktree.path, "rebase", "--quiet", "main")).toThrow();
  expect(await worktrees.changesSince(worktree, last)).toEqual([{ kind: "rebase-open", branch: worktree.branch }]);
  const headCommit = world.git(worktree.path, "rev-parse", "HEAD");
  expect(await worktrees.changesSince(worktree, { ...last, headCommit, ahead: 0 })).toEqual([]);
});

test("a detached HEAD is named where a person moved it, and not where the agent left it", async () => {
  const { world, worktrees, worktree, last } = await seated();
  using _ = world;
  world.git(worktree.path, "checkout", "--quiet", "--detach");
  expect(await worktrees.changesSince(worktree, last)).toEqual([]);
  world.git(worktree.path, "checkout", "--quiet", "--detach", "HEAD~1");
  expect(await worktrees.changesSince(worktree, last)).toMatchObject([{ kind: "other-branch" }]);
});

test("a worktree that git moved elsewhere: the problem names the command that moves it back", async () => {
  const { world, worktrees, worktree } = await seated();
  using _ = world;
  const moved = join(world.root, "..", "moved");
  world.git(world.root, "worktree", "move", worktree.path, moved);
  const back = `git worktree move ${moved} ${worktree.path}`;
  expect(await worktrees.ensureLink(worktree)).toMatchObject({
    kind: "broken",
    problem: expect.stringContaining(back),
  });
  const request = { ...requestFor({ ...worktree }), identity: worktree.identity };
  expect(await worktrees.create(request)).toMatchObject({ refusal: { problem: expect.stringContaining(back) } });
  // A person who locked it has to unlock it first.
  world.git(world.root, "worktree", "lock", moved);
  const unlocked = { problem: expect.stringContaining(`git worktree unlock ${moved} && ${back}`) };
  expect(await worktrees.ensureLink(worktree)).toMatchObject(unlocked);
  expect(await worktrees.create(request)).toMatchObject({ refusal: unlocked });
  world.git(world.root, "worktree", "unlock", moved);
  world.git(world.root, ...back.split(" ").slice(1));
  expect(await worktrees.ensureLink(worktree)).toEqual({ kind: "sound" });
});

test("a lock of a git command that was killed is gone before the next turn; a living one's stays", async () => {
  const { world, worktrees, worktree } = await seated();
  using _ = world;
  const lock = join(world.root, ".git", "worktrees", "ann", "index.lock");
  writeFileSync(lock, "");
  expect(() => world.git(worktree.path, "add", "-A")).toThrow("index.lock");
  await worktrees.removeDeadLocks(worktree);
  world.git(worktree.path, "add", "-A");

  world.write(worktree.path, "a.txt", "other\n");
  const editor = Bun.spawn(["git", "commit", "--quiet", "-a"], {
    cwd: worktree.path,
    env: { ...process.env, GIT_EDITOR: "sleep 30; true" },
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  try {
    for (let i = 0; i < 1_000 && !existsSync(lock); i++) await Bun.sleep(10);
    await worktrees.removeDeadLocks(worktree);
    expect(existsSync(lock)).toBe(true);
  } finally {
    process.kill(-editor.pid, "SIGKILL");
  }
});
