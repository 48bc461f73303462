import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { WorktreeSetting } from "./world.ts";

/** A removed worktree leaves its commits in the project and its ignored files in the trash. */
export function removingPromises({ seated, open }: WorktreeSetting): void {
  test("removing moves ignored files to the trash with their paths, and is safe to repeat", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    world.write(owned.path, "src/debug.log", "log\n");
    world.write(owned.path, "node_modules/x/index.js", "x\n");
    mkdirSync(join(owned.path, "node_modules", "sealed"));
    world.write(owned.path, "node_modules/sealed/y", "y\n");
    chmodSync(join(owned.path, "node_modules", "sealed"), 0o555);
    const removal = await worktrees.remove(owned, { deleteBranch: null });
    expect(removal).toMatchObject({ removed: true, problem: null });
    expect(world.read(removal.trash ?? "", "src/debug.log")).toBe("log\n");
    expect(world.read(removal.trash ?? "", "node_modules/x/index.js")).toBe("x\n");
    expect(existsSync(owned.path)).toBe(false);
    expect(world.git(world.root, "worktree", "list", "--porcelain")).not.toContain(owned.path);
    expect(world.git(world.root, "rev-parse", owned.branch)).toBe(owned.baseCommit ?? "");
    expect(await worktrees.remove(owned, { deleteBranch: null })).toEqual({
      removed: true,
      trash: null,
      problem: null,
    });
    expect(await worktrees.inspect(owned)).toMatchObject({ exists: false, head: null });
    chmodSync(join(removal.trash ?? "", "node_modules", "sealed"), 0o755);
  });

  test("whoever looks into one that another process takes away finds it whole or gone, and fails over nothing", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const head = commit("src/c.ts", "c\n");
    const other = open(world.root);
    const removal = other.remove(owned, { deleteBranch: null });
    let removed = false;
    void removal.then(() => {
      removed = true;
    });
    const seen = [];
    while (!removed) {
      await Promise.all([worktrees.snapshot(owned), worktrees.collect(owned)]);
      seen.push(await worktrees.inspect(owned));
      await Bun.sleep(0);
    }
    expect(await removal).toMatchObject({ removed: true, problem: null });
    for (const facts of seen) {
      expect(facts).toMatchObject(facts.exists ? { head, dirty: false } : { head: null, dirty: false });
    }
  });

  test("a branch is deleted only at the tip that was looked at", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const tip = commit("src/c.ts", "c\n");
    await worktrees.collect(owned);
    const kept = await worktrees.remove(owned, { deleteBranch: owned.baseCommit });
    expect(kept).toMatchObject({ removed: true, problem: expect.stringContaining("moved on") });
    expect(world.git(world.root, "rev-parse", owned.branch)).toBe(tip);
    expect(await worktrees.remove(owned, { deleteBranch: tip })).toMatchObject({ problem: null });
    expect(world.git(world.root, "for-each-ref", "refs/heads/overstory")).toBe("");
  });

  test("after collecting, the project has the commits on the branch of the same name", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const tip = commit("src/c.ts", "c\n");
    await worktrees.collect(owned);
    expect(world.git(world.root, "rev-parse", owned.branch)).toBe(tip);
    expect(world.git(world.root, "show", `${owned.branch}:src/c.ts`)).toBe("c");
    await worktrees.collect(owned);
    world.git(world.root, "fsck", "--strict", "--no-dangling");
  });

  test("landed means contained: merged, picked, squashed, or squashed and built upon", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    commit("src/c.ts", "c\n");
    const tip = commit("src/d.ts", "d\n");
    await worktrees.collect(owned);
    const { root } = world;
    const landed = (target = "main") => worktrees.isLanded({ commit: tip, base: owned.baseCommit }, target);
    expect(await landed()).toBe(false);
    world.git(root, "branch", "picked");
    world.git(root, "checkout", "--quiet", "-b", "ahead");
    world.write(root, "other.txt", "o\n");
    world.git(root, "add", "other.txt");
    world.git(root, "commit", "--quiet", "-m", "other");
    world.git(root, "branch", "squashed");
    world.git(root, "cherry-pick", `${owned.baseCommit}..${tip}`);
    expect(await landed("ahead")).toBe(true);
    world.git(root, "checkout", "--quiet", "squashed");
    world.git(root, "merge", "--squash", tip);
    world.git(root, "commit", "--quiet", "-m", "squashed");
    expect(await landed("squashed")).toBe(true);
    world.write(root, "src/c.ts", "c, and more\n");
    world.git(root, "commit", "--quiet", "-am", "built upon");
    expect(await landed("squashed")).toBe(true);
    world.git(root, "checkout", "--quiet", "main");
    world.git(root, "merge", "--quiet", "--no-ff", tip, "-m", "merged");
    expect(await landed()).toBe(true);
    expect(await worktrees.isLanded({ commit: tip, base: owned.baseCommit }, "nowhere")).toBe(false);
  });
}
