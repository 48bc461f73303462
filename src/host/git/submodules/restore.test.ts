import { describe, expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { requestFor } from "../../../../testkit/contracts/worktrees/world.ts";
import { type SeatedSubmodules, seatedSubmodules, submoduleWorld } from "../../../../testkit/submodule-world.ts";
import { gitWorktrees } from "../worktrees.ts";

const kinds = ["linked", "clone"] as const;

describe.each(kinds)("a %s worktree that is recovered", (kind) => {
  /** Removes the worktree with all that belongs to it, then makes and fills it again as `ov recover` does. */
  const recover = async ({ worktrees, owned }: SeatedSubmodules) => {
    await worktrees.collect(owned);
    await worktrees.snapshot(owned);
    expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: true });
    const again = async () => {
      await worktrees.intendRestore(owned);
      expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
      return worktrees.restore(owned);
    };
    return again();
  };

  test("has what was uncommitted in its submodules, nested ones too, uncommitted again", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, owned, sub } = scene;
    world.write(sub, "conf.ini", "half done\n");
    world.write(sub, "new/file.txt", "new\n");
    world.write(sub, "noise.log", "ignored\n");
    world.write(sub, "inner/deep.txt", "half done\n");
    const restored = await recover(scene);
    expect(restored?.files).toEqual(["lib/conf.ini", "lib/new/file.txt", "lib/inner/deep.txt"]);
    expect(world.read(sub, "conf.ini")).toBe("half done\n");
    expect(world.read(sub, "new/file.txt")).toBe("new\n");
    expect(world.read(sub, "noise.log")).toBe("ignored\n");
    expect(world.read(sub, "inner/deep.txt")).toBe("half done\n");
    expect(world.git(sub, "status", "--porcelain")).toBe("M conf.ini\n M inner\n?? new/");
    expect(world.git(join(sub, "inner"), "status", "--porcelain")).toBe("M deep.txt");
    expect(world.git(owned.path, "status", "--porcelain")).toBe("M lib");
  });

  test("or only lost all its files: it has them again, those of its submodules too", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, worktrees, owned, sub } = scene;
    world.write(sub, "conf.ini", "half done\n");
    world.write(sub, "inner/deep.txt", "half done\n");
    const before = world.git(owned.path, "ls-files");
    await worktrees.collect(owned);
    await worktrees.snapshot(owned);
    for (const name of readdirSync(owned.path)) {
      if (name !== ".git") rmSync(join(owned.path, name), { recursive: true });
    }
    const changes = await worktrees.changesSince(owned, { headCommit: null, ahead: 0, dirty: true });
    expect(changes).toMatchObject([{ kind: "files-gone", files: expect.arrayContaining(["lib"]) }]);
    await worktrees.mendChanges(owned, changes);
    expect(world.git(owned.path, "ls-files")).toBe(before);
    expect(world.git(owned.path, "ls-files", "--deleted")).toBe("");
    expect(world.read(sub, "conf.ini")).toBe("half done\n");
    expect(world.read(sub, "inner/deep.txt")).toBe("half done\n");
    expect(await worktrees.changesSince(owned, { headCommit: null, ahead: 0, dirty: true })).toEqual([]);
  });

  test("has its submodules at the commits they were at, though the project did not point there yet", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, owned, sub } = scene;
    const deep = world.commit(join(sub, "inner"), "deep.txt", "deeper\n");
    world.git(sub, "checkout", "--quiet", "HEAD");
    world.write(sub, "own.txt", "mine\n");
    world.git(sub, "add", "own.txt");
    world.git(sub, "commit", "--quiet", "-m", "mine");
    const made = world.git(sub, "rev-parse", "HEAD");
    world.write(sub, "own.txt", "mine, and more\n");
    world.write(join(sub, "inner"), "deep.txt", "deepest\n");
    await recover(scene);
    expect(world.git(sub, "rev-parse", "HEAD")).toBe(made);
    expect(world.read(sub, "own.txt")).toBe("mine, and more\n");
    expect(world.git(join(sub, "inner"), "rev-parse", "HEAD")).toBe(deep);
    expect(world.read(sub, "inner/deep.txt")).toBe("deepest\n");
    expect(world.git(owned.path, "rev-parse", "HEAD")).toBe(
      owned.baseCommit ?? world.git(world.root, "rev-parse", "main"),
    );
  });

  test("does not get back what its agent itself had taken back", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, worktrees, owned, sub } = scene;
    world.write(sub, "conf.ini", "a try\n");
    await worktrees.collect(owned);
    world.git(sub, "checkout", "--quiet", "--", "conf.ini");
    await recover(scene);
    expect(world.read(sub, "conf.ini")).toBe("[conf]\n");
    expect(world.git(sub, "status", "--porcelain")).toBe("");
  });

  test("gets everything back by a second try when the first was cut short", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, worktrees, owned, sub } = scene;
    world.write(sub, "conf.ini", "half done\n");
    world.write(sub, "inner/deep.txt", "half done\n");
    await worktrees.collect(owned);
    await worktrees.snapshot(owned);
    await worktrees.remove(owned, { deleteBranch: null });
    await worktrees.intendRestore(owned);
    await worktrees.create(requestFor(owned));
    // The state after a kill in the middle: one file is written, the other is not.
    world.write(sub, "conf.ini", "half done\n");
    await gitWorktrees(world.root).create(requestFor(owned));
    expect((await gitWorktrees(world.root).restore(owned))?.files).toEqual(["lib/conf.ini", "lib/inner/deep.txt"]);
    expect(world.read(sub, "inner/deep.txt")).toBe("half done\n");
    expect(await gitWorktrees(world.root).restore(owned)).toBeUndefined();
  });
});

test("a worktree of which git has no record any more is taken up again, with the work in its submodules", async () => {
  using scene = await seatedSubmodules();
  const { world, worktrees, owned, sub, seat } = scene;
  const made = world.commit(sub, "conf.ini", "[committed]\n");
  world.write(sub, "conf.ini", "half done\n");
  world.write(sub, "inner/deep.txt", "half done\n");
  world.write(owned.path, "draft.txt", "draft\n");
  await worktrees.collect(owned);
  rmSync(join(world.root, ".git", "worktrees", "ann"), { recursive: true });
  const again = { ...requestFor(owned), identity: seat.identity };
  const created = await worktrees.create(again);
  expect(created).toMatchObject({ ok: true, value: { identity: seat.identity } });
  expect(created.ok && created.value.unfilled).toBeUndefined();
  expect(world.git(sub, "rev-parse", "HEAD")).toBe(made);
  expect(world.read(sub, "conf.ini")).toBe("half done\n");
  expect(world.git(sub, "status", "--porcelain")).toBe("M conf.ini\n M inner");
  expect(world.read(sub, "inner/deep.txt")).toBe("half done\n");
  expect(world.git(owned.path, "status", "--porcelain")).toBe("M lib\n?? draft.txt");
});

describe("a branch that renames the section of a submodule", () => {
  /** Renames the submodule but keeps its path: git then looks for another module. */
  const rename = (world: SeatedSubmodules["world"], at: string): void => {
    world.git(at, "config", "--file", ".gitmodules", "--rename-section", "submodule.lib", "submodule.vendored");
    world.git(at, "commit", "--quiet", "-am", "rename the section");
  };

  test.each(kinds)("is filled, kept and recovered in a %s worktree", async (kind) => {
    using world = submoduleWorld();
    world.git(world.root, "branch", "overstory/ann/task", "main");
    world.git(world.root, "checkout", "--quiet", "overstory/ann/task");
    rename(world, world.root);
    world.git(world.root, "checkout", "--quiet", "main");
    const worktrees = gitWorktrees(world.root);
    const owned = { ...world.worktree("ann", kind), branch: "overstory/ann/task" };
    const created = await worktrees.create(requestFor(owned));
    expect(created.ok && created.value.unfilled).toBeUndefined();
    const sub = join(owned.path, "lib");
    expect(world.read(sub, "inner/deep.txt")).toBe("deep\n");
    expect(world.git(owned.path, "status", "--porcelain")).toBe("");
    const made = world.commit(sub, "conf.ini", "[changed]\n");
    world.write(sub, "conf.ini", "half done\n");
    expect(await worktrees.collect(owned)).toMatchObject([{ path: "lib", problem: null }]);
    expect(world.refs("refs/overstory/")).toContain(`refs/overstory/sub/ann/${made}`);
    await worktrees.snapshot(owned);
    expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: true, problem: null });
    await worktrees.intendRestore(owned);
    await worktrees.create(requestFor(owned));
    await worktrees.restore(owned);
    expect(world.git(sub, "rev-parse", "HEAD")).toBe(made);
    expect(world.read(sub, "conf.ini")).toBe("half done\n");
  });

  test("by its agent, in its worktree, keeps the commits made under either name", async () => {
    using scene = await seatedSubmodules();
    const { world, worktrees, owned, sub } = scene;
    const before = world.commit(sub, "conf.ini", "[before]\n");
    rename(world, owned.path);
    const after = world.commit(sub, "conf.ini", "[after]\n");
    world.git(owned.path, "commit", "--quiet", "-am", "bump");
    expect((await worktrees.collect(owned)).every(({ problem }) => problem === null)).toBe(true);
    world.git(world.module, "merge-base", "--is-ancestor", before, after);
    await worktrees.remove(owned, { deleteBranch: null });
    world.git(world.root, "merge", "--quiet", "--ff-only", owned.branch);
    expect(world.git(world.module, "cat-file", "-t", after)).toBe("commit");
    expect(await world.merging.lostPointers(world.git(world.root, "rev-parse", "HEAD~2"), "HEAD")).toEqual([]);
  });
});
