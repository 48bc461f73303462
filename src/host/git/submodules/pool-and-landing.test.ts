import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { requestFor } from "../../../../testkit/contracts/worktrees/world.ts";
import { plantPrograms } from "../../../../testkit/planted-programs.ts";
import { type SubmoduleWorld, submoduleWorld } from "../../../../testkit/submodule-world.ts";
import { gitWorktrees } from "../worktrees.ts";

const tip = ({ git, root }: SubmoduleWorld, ref = "main"): string => git(root, "rev-parse", ref);

/** A commit on a branch of the project at which the submodule has this text; the user's checkout stays on main. */
function bumped(world: SubmoduleWorld, branch: string, text: string): { outer: string; inner: string } {
  const { git, root } = world;
  git(root, "checkout", "--quiet", "-b", branch, "main");
  const inner = world.commit(join(root, "lib"), "conf.ini", text);
  git(root, "add", "lib");
  git(root, "commit", "--quiet", "-m", branch);
  const outer = tip(world, "HEAD");
  git(root, "checkout", "--quiet", "main");
  git(root, "submodule", "--quiet", "update");
  return { outer, inner };
}

describe("a place of the gate pool", () => {
  test("has the submodules of each commit, whatever was there before", async () => {
    using world = submoduleWorld();
    const { merging } = world;
    const main = tip(world);
    const { outer } = bumped(world, "other", "[other]\n");
    const { path, form: _, ...rest } = await merging.checkOut(1, main);
    expect(rest).toEqual({ kept: [], cached: [], installOn: null });
    const lib = join(path, "lib");
    for (const [commit, text] of [
      [main, "[conf]\n"],
      [outer, "[other]\n"],
      [main, "[conf]\n"],
      [main, "[conf]\n"],
    ] as const) {
      await merging.checkOut(1, commit);
      expect(world.read(lib, "conf.ini")).toBe(text);
      expect(world.read(lib, "inner/deep.txt")).toBe("deep\n");
      expect(world.git(path, "status", "--porcelain", "--ignored")).toBe("");
      expect(world.git(lib, "status", "--porcelain", "--ignored")).toBe("");
      expect(world.git(path, "submodule", "status", "--recursive")).not.toMatch(/^[-+U]/m);
      // What a gate leaves behind.
      world.write(lib, "conf.ini", "from the gate\n");
      world.write(lib, "left.log", "left\n");
      world.write(lib, "inner/left.txt", "left\n");
      world.write(lib, "inner/node_modules/x", "left\n");
      rmSync(join(lib, "inner", "deep.txt"));
    }
  });

  test("a gate that hides its change behind the old time and size does not pass it on", async () => {
    using world = submoduleWorld();
    const main = tip(world);
    const { path } = await world.merging.checkOut(1, main);
    const file = join(path, "lib", "conf.ini");
    const { atime, mtime } = await Bun.file(file).stat();
    writeFileSync(file, "[fnoc]\n");
    utimesSync(file, atime, mtime);
    await world.merging.checkOut(1, main);
    expect(world.read(path, "lib/conf.ini")).toBe("[conf]\n");
  });

  test("links and repositories planted in the place of a submodule lead nowhere", async () => {
    using world = submoduleWorld();
    const main = tip(world);
    const { path } = await world.merging.checkOut(1, main);
    const victim = join(dirname(world.root), "victim");
    mkdirSync(victim);
    writeFileSync(join(victim, "precious.txt"), "precious\n");
    rmSync(join(path, "lib"), { recursive: true });
    symlinkSync(victim, join(path, "lib"));
    await world.merging.checkOut(1, main);
    expect(readdirSync(victim)).toEqual(["precious.txt"]);
    expect(world.read(path, "lib/conf.ini")).toBe("[conf]\n");
    rmSync(join(path, "lib", ".git"));
    world.git(join(path, "lib"), "init", "--quiet");
    plantPrograms(world, join(path, "lib", ".git"));
    rmSync(join(path, "lib", "inner"), { recursive: true });
    symlinkSync(victim, join(path, "lib", "inner"));
    await world.merging.checkOut(1, main);
    expect(readdirSync(victim)).toEqual(["precious.txt"]);
    expect(world.read(path, "lib/inner/deep.txt")).toBe("deep\n");
    expect(world.git(path, "submodule", "status")).toMatch(/^[0-9a-f]+ lib/);
    expect(world.sprung()).toBe(false);
  });

  test("says which submodules are empty, and why", async () => {
    using world = submoduleWorld();
    const main = tip(world);
    await world.merging.checkOut(1, main);
    rmSync(join(world.module, "modules"), { recursive: true });
    expect(await world.merging.checkOut(1, main)).toMatchObject({
      unfilled: [{ path: "lib/inner", problem: "it is not initialised in the project's checkout" }],
    });
    rmSync(world.module, { recursive: true });
    rmSync(join(world.root, "lib", ".git"));
    const { path, unfilled } = await world.merging.checkOut(1, main);
    expect(unfilled).toMatchObject([{ path: "lib" }]);
    expect(readdirSync(join(path, "lib"))).toEqual([]);
  });
});

describe("pointers that would land", () => {
  test("a commit that is nowhere is named; one of a submodule that does not change is not asked for", async () => {
    using world = submoduleWorld();
    const { git, root, merging } = world;
    const nowhere = "1".repeat(40);
    git(root, "checkout", "--quiet", "-b", "broken");
    git(root, "update-index", "--cacheinfo", `160000,${nowhere},lib`);
    git(root, "commit", "--quiet", "-m", "to nowhere");
    git(root, "checkout", "--quiet", "--force", "main");
    const problem = `its commit 1111111111 is not in ${world.module}; when its remote has the commit: git submodule update --init --recursive -- lib`;
    expect(await merging.lostPointers("main", "broken")).toEqual([{ path: "lib", commit: nowhere, problem }]);
    expect(await merging.lostPointers("broken", "main")).toEqual([]);
    expect(await merging.lostPointers("broken", "broken")).toEqual([]);
  });

  test("a repository inside the project that .gitmodules does not name", async () => {
    using world = submoduleWorld();
    const { git, root, merging } = world;
    git(root, "checkout", "--quiet", "-b", "nested");
    git(root, "update-index", "--add", "--cacheinfo", `160000,${tip(world)},nested`);
    git(root, "commit", "--quiet", "-m", "nested");
    git(root, "checkout", "--quiet", "--force", "main");
    expect(await merging.lostPointers("main", "nested")).toMatchObject([
      { path: "nested", problem: ".gitmodules does not name it, so nobody could tell where its commits come from" },
    ]);
  });

  test("a submodule that nobody initialised", async () => {
    using world = submoduleWorld();
    const { inner } = bumped(world, "other", "[other]\n");
    rmSync(world.module, { recursive: true });
    rmSync(join(world.root, "lib", ".git"));
    expect(await world.merging.lostPointers("main", "other")).toMatchObject([{ path: "lib", commit: inner }]);
  });

  test("a commit inside the commit of a submodule", async () => {
    using world = submoduleWorld();
    const lib = join(world.root, "lib");
    world.git(world.root, "checkout", "--quiet", "-b", "broken");
    world.git(lib, "update-index", "--cacheinfo", `160000,${"2".repeat(40)},inner`);
    world.git(lib, "commit", "--quiet", "-m", "to nowhere");
    world.git(world.root, "commit", "--quiet", "-am", "bump");
    expect(await world.merging.lostPointers("main", "broken")).toMatchObject([{ path: "lib/inner" }]);
  });

  test("a commit that the user made on no branch and left is held from then on", async () => {
    using world = submoduleWorld();
    world.git(join(world.root, "lib"), "checkout", "--quiet", "--detach");
    const { inner } = bumped(world, "other", "[other]\n");
    expect(world.refs("refs/overstory/")).toEqual([]);
    expect(await world.merging.lostPointers("main", "other")).toEqual([]);
    expect(world.refs("refs/overstory/")).toEqual([`refs/overstory/sub/@landed/${inner}`]);
    expect(await world.merging.lostPointers("main", "other")).toEqual([]);
  });

  test("a commit that so far only a worktree has is brought over", async () => {
    using world = submoduleWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    await worktrees.create(requestFor(owned));
    const sub = join(owned.path, "lib");
    const deep = world.commit(join(sub, "inner"), "deep.txt", "deeper\n");
    const made = world.commit(sub, "conf.ini", "[made]\n");
    world.git(owned.path, "commit", "--quiet", "-am", "bump");
    expect(await world.merging.lostPointers("main", owned.branch)).toEqual([]);
    expect(world.refs("refs/overstory/sub/@landed/")).toEqual([`refs/overstory/sub/@landed/${made}`]);
    const { path } = await world.merging.checkOut(1, tip(world, owned.branch));
    expect(world.read(path, "lib/inner/deep.txt")).toBe("deeper\n");
    expect(world.git(join(world.module, "modules", "inner"), "cat-file", "-t", deep)).toBe("commit");
  });
});

test("an agent that takes in what has landed meanwhile updates its submodules without a network", async () => {
  using world = submoduleWorld();
  const worktrees = gitWorktrees(world.root);
  const [ann, bob] = [world.worktree("ann", "linked"), world.worktree("bob", "linked")];
  for (const owned of [ann, bob]) await worktrees.create(requestFor(owned));
  world.commit(join(ann.path, "lib", "inner"), "deep.txt", "deeper\n");
  world.commit(join(ann.path, "lib"), "conf.ini", "[made]\n");
  world.git(ann.path, "commit", "--quiet", "-am", "bump");
  await worktrees.collect(ann);
  expect(await world.merging.lostPointers("main", ann.branch)).toEqual([]);
  world.git(bob.path, "merge", "--quiet", ann.branch);
  world.git(bob.path, "submodule", "--quiet", "update", "--recursive");
  expect(world.read(bob.path, "lib/inner/deep.txt")).toBe("deeper\n");
  expect(world.git(bob.path, "status", "--porcelain")).toBe("");
  // What others landed is not bob's work.
  expect(await worktrees.collect(bob)).toEqual([]);
});

test("a checkout whose submodules lag behind, as after a promotion, is clean", async () => {
  using world = submoduleWorld();
  const { outer } = bumped(world, "other", "[other]\n");
  world.git(world.root, "merge", "--quiet", "--ff-only", outer);
  expect(world.git(world.root, "status", "--porcelain")).toBe("M lib");
  expect(await world.merging.isClean(world.root)).toBe(true);
  world.write(world.root, "README.md", "changed\n");
  expect(await world.merging.isClean(world.root)).toBe(false);
});

test("nothing that is configured in a module, the user's or the agent's, is run by us", async () => {
  using world = submoduleWorld({ files: { "a.x": "a\n", ".gitattributes": "* diff=x merge=x\n" } });
  plantPrograms(world, world.module);
  const worktrees = gitWorktrees(world.root);
  const owned = world.worktree("ann", "linked");
  expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
  const sub = join(owned.path, "lib");
  const gitDir = join(world.root, ".git", "worktrees", "ann", "modules", "lib");
  expect(existsSync(join(sub, "a.x"))).toBe(true);
  plantPrograms(world, gitDir);
  world.write(sub, "a.x", "changed\n");
  world.write(sub, "new.x", "new\n");
  expect(await worktrees.inspect(owned)).toMatchObject({ dirty: true });
  expect(await worktrees.collect(owned)).toMatchObject([{ path: "lib", problem: null }]);
  expect(await worktrees.snapshot(owned)).toBeUndefined();
  await world.merging.checkOut(1, tip(world));
  expect(await world.merging.lostPointers("main", "main~1")).toEqual([]);
  expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: true, problem: null });
  expect(world.sprung()).toBe(false);
});

test("a submodule that needs a filter which nobody confirmed stays empty and is named", async () => {
  using world = submoduleWorld({ files: { "a.x": "a\n", ".gitattributes": "* filter=x\n" } });
  plantPrograms(world, world.module);
  const created = await gitWorktrees(world.root).create(requestFor(world.worktree("ann", "linked")));
  expect(created).toMatchObject({
    ok: true,
    value: { unfilled: [{ path: "lib", problem: expect.stringContaining('the filter "x"') }] },
  });
  expect(world.sprung()).toBe(false);
});
