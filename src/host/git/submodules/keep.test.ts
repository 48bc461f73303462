import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { requestFor } from "../../../../testkit/contracts/worktrees/world.ts";
import { seatedSubmodules, submoduleWorld } from "../../../../testkit/submodule-world.ts";
import { gitWorktrees } from "../worktrees.ts";

const kinds = ["linked", "clone"] as const;

describe.each(kinds)("work in the submodules of a %s worktree", (kind) => {
  test("commits in a submodule are in the user's module after a turn, and after the worktree is gone", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, worktrees, owned, sub } = scene;
    const deep = world.commit(join(sub, "inner"), "deep.txt", "deeper\n");
    const made = world.commit(sub, "conf.ini", "[changed]\n");
    world.git(owned.path, "add", "lib");
    world.git(owned.path, "commit", "--quiet", "-m", "bump");
    expect(await worktrees.collect(owned)).toEqual([
      { path: "lib", refs: [`refs/overstory/sub/ann/${made}`], problem: null },
      { path: "lib/inner", refs: [`refs/overstory/sub/ann/${deep}`], problem: null },
    ]);
    expect(await worktrees.collect(owned)).toEqual([]);
    const removal = await worktrees.remove(owned, { deleteBranch: null });
    expect(removal).toMatchObject({ removed: true, problem: null });
    rmSync(removal.trash ?? "nothing", { recursive: true, force: true });
    world.git(world.root, "merge", "--quiet", "--ff-only", owned.branch);
    world.git(world.root, "submodule", "update", "--recursive");
    expect(world.read(world.root, "lib/conf.ini")).toBe("[changed]\n");
    expect(world.read(world.root, "lib/inner/deep.txt")).toBe("deeper\n");
    expect(world.refs("refs/overstory/")).toEqual([`refs/overstory/sub/ann/${made}`]);
  });

  test("commits that are amended away or only stashed stay, when they were there at the end of a turn", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, worktrees, owned, sub } = scene;
    const first = world.commit(sub, "conf.ini", "first\n");
    await worktrees.collect(owned);
    world.git(sub, "reset", "--quiet", "--hard", "HEAD^");
    const second = world.commit(sub, "conf.ini", "second\n");
    const onTop = world.commit(sub, "conf.ini", "on top\n");
    world.write(sub, "conf.ini", "stashed\n");
    world.git(sub, "stash", "--quiet");
    const stash = world.git(sub, "rev-parse", "refs/stash");
    await worktrees.collect(owned);
    const kept = [first, stash].toSorted().map((oid) => `refs/overstory/sub/ann/${oid}`);
    expect(world.refs("refs/overstory/sub/ann/")).toEqual([...kept, "refs/overstory/sub/ann/base"].toSorted());
    for (const oid of [second, onTop]) world.git(world.module, "merge-base", "--is-ancestor", oid, stash);
  });

  test("a pointer that is only in an older commit of the branch is kept too", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, worktrees, owned, sub } = scene;
    const first = world.commit(sub, "conf.ini", "first\n");
    world.git(owned.path, "commit", "--quiet", "-am", "to the first");
    world.git(sub, "reset", "--quiet", "--hard", "HEAD^");
    const second = world.commit(sub, "conf.ini", "second\n");
    world.git(owned.path, "commit", "--quiet", "-am", "to the second");
    await worktrees.collect(owned);
    for (const oid of [first, second]) expect(world.refs("refs/overstory/")).toContain(`refs/overstory/sub/ann/${oid}`);
  });

  test("uncommitted files in a submodule count as work, and are kept under a ref of the user's module", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, worktrees, owned, sub } = scene;
    world.write(sub, "conf.ini", "half done\n");
    world.write(sub, "new.txt", "new\n");
    world.write(sub, "noise.log", "ignored\n");
    world.write(sub, "inner/deep.txt", "half done\n");
    expect(await worktrees.inspect(owned)).toMatchObject({
      dirty: true,
      files: ["lib/conf.ini", "lib/inner/deep.txt", "lib/new.txt"],
    });
    const [outer, inner, ...more] = await worktrees.collect(owned);
    expect([outer, inner, more]).toMatchObject([{ path: "lib", problem: null }, { path: "lib/inner" }, []]);
    expect(await worktrees.collect(owned)).toEqual([]);
    const [ref = ""] = outer?.refs ?? [];
    expect(ref).toStartWith("refs/overstory/sub/ann/work/");
    const removal = await worktrees.remove(owned, { deleteBranch: null });
    expect(world.git(world.module, "show", `${ref}:conf.ini`)).toBe("half done");
    expect(world.git(world.module, "show", `${ref}:new.txt`)).toBe("new");
    const deep = join(world.module, "modules", "inner");
    expect(world.git(deep, "show", `${inner?.refs[0]}:deep.txt`)).toBe("half done");
    expect(world.read(removal.trash ?? "", "lib/noise.log")).toBe("ignored\n");
    expect(existsSync(join(removal.trash ?? "", "lib/conf.ini"))).toBe(false);
  });
});

describe("what an agent does to its submodules", () => {
  test("it adds one, which the user has from then on", async () => {
    using scene = await seatedSubmodules();
    const { world, worktrees, owned } = scene;
    const remote = join(dirname(world.root), "new.git");
    mkdirSync(remote);
    world.git(remote, "init", "--quiet", "--initial-branch=main");
    world.commit(remote, "new.txt", "new\n");
    world.git(owned.path, "submodule", "--quiet", "add", remote, "deps/new");
    world.git(owned.path, "commit", "--quiet", "-m", "one more");
    rmSync(remote, { recursive: true });
    const tip = world.git(join(owned.path, "deps/new"), "rev-parse", "HEAD");
    expect(await worktrees.collect(owned)).toEqual([
      { path: "deps/new", refs: [`refs/overstory/sub/ann/${tip}`], problem: null },
    ]);
    await worktrees.remove(owned, { deleteBranch: null });
    expect(await world.merging.lostPointers("main", owned.branch)).toEqual([]);
    world.git(world.root, "merge", "--quiet", "--ff-only", owned.branch);
    world.git(world.root, "submodule", "--quiet", "update", "--init");
    expect(world.read(world.root, "deps/new/new.txt")).toBe("new\n");
    expect(world.git(join(world.root, "deps/new"), "remote", "get-url", "origin")).toBe(remote);
  });

  test("it adds one by a relative address, with uncommitted work in it", async () => {
    using scene = await seatedSubmodules("clone", { url: "relative" });
    const { world, worktrees, owned } = scene;
    const remote = join(dirname(world.root), "new.git");
    mkdirSync(remote);
    world.git(remote, "init", "--quiet", "--initial-branch=main");
    world.commit(remote, "new.txt", "new\n");
    world.git(owned.path, "config", "remote.origin.url", join(dirname(world.root), "project.git"));
    world.git(owned.path, "submodule", "--quiet", "add", "../new.git", "new");
    world.write(owned.path, "new/more.txt", "more\n");
    const [kept] = await worktrees.collect(owned);
    expect(kept).toMatchObject({ path: "new", problem: null });
    const module = join(world.root, ".git", "modules", "new");
    expect(world.git(module, "show", `${kept?.refs.at(-1)}:more.txt`)).toBe("more");
    expect(world.git(module, "config", "remote.origin.url")).toBe(remote);
  });

  test("one that it only had a look at does not come to the user", async () => {
    using world = submoduleWorld();
    const away = join(dirname(world.root), "lib.git");
    renameSync(world.module, away);
    world.git(world.root, "config", "--file", join(away, "config"), "core.bare", "true");
    world.git(world.root, "config", "--file", join(away, "config"), "--unset", "core.worktree");
    rmSync(join(world.root, "lib", ".git"));
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    await worktrees.create(requestFor(owned));
    world.git(owned.path, "submodule", "--quiet", "update", "--init");
    expect(world.read(owned.path, "lib/conf.ini")).toBe("[conf]\n");
    expect(await worktrees.collect(owned)).toEqual([]);
    expect(existsSync(world.module)).toBe(false);
  });

  test("it moves one", async () => {
    using scene = await seatedSubmodules();
    const { world, worktrees, owned } = scene;
    mkdirSync(join(owned.path, "moved"));
    world.git(owned.path, "mv", "lib", "moved/lib");
    const made = world.commit(join(owned.path, "moved/lib"), "conf.ini", "[moved]\n");
    world.git(owned.path, "commit", "--quiet", "-am", "move");
    expect(await worktrees.collect(owned)).toEqual([
      { path: "moved/lib", refs: [`refs/overstory/sub/ann/${made}`], problem: null },
    ]);
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: false });
    await worktrees.remove(owned, { deleteBranch: null });
    const { path } = await world.merging.checkOut(1, world.git(world.root, "rev-parse", owned.branch));
    expect(world.read(path, "moved/lib/conf.ini")).toBe("[moved]\n");
    world.git(world.root, "merge", "--quiet", "--ff-only", owned.branch);
    world.git(world.root, "submodule", "--quiet", "update", "--init", "--recursive");
    expect(world.read(world.root, "moved/lib/conf.ini")).toBe("[moved]\n");
  });

  test("it removes one, after it had committed in it", async () => {
    using scene = await seatedSubmodules();
    const { world, worktrees, owned, sub } = scene;
    const made = world.commit(sub, "conf.ini", "[last]\n");
    world.git(owned.path, "rm", "--quiet", "--force", "lib");
    world.git(owned.path, "commit", "--quiet", "-m", "without");
    await worktrees.collect(owned);
    expect(world.refs("refs/overstory/")).toContain(`refs/overstory/sub/ann/${made}`);
    expect(await world.merging.lostPointers("main", owned.branch)).toEqual([]);
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: false });
  });

  test("it deletes the whole worktree: the commits are kept when git's record of it goes", async () => {
    using scene = await seatedSubmodules();
    const { world, worktrees, owned, sub } = scene;
    const made = world.commit(sub, "conf.ini", "[last]\n");
    rmSync(owned.path, { recursive: true });
    expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: true, problem: null });
    expect(world.refs("refs/overstory/")).toEqual([`refs/overstory/sub/ann/${made}`]);
  });

  test("it breaks the repository of one: that is told, the rest is kept, and its files go to the trash", async () => {
    using scene = await seatedSubmodules();
    const { world, worktrees, owned, sub } = scene;
    world.commit(sub, "conf.ini", "[changed]\n");
    const gitDir = world.git(sub, "rev-parse", "--absolute-git-dir");
    const head = world.git(sub, "rev-parse", "HEAD^{tree}");
    rmSync(join(gitDir, "objects", head.slice(0, 2), head.slice(2)));
    world.write(owned.path, "outside.txt", "outside\n");
    expect(await worktrees.collect(owned)).toMatchObject([{ path: "lib", problem: expect.any(String) }]);
    expect((await worktrees.snapshot(owned))?.commit).toBeString();
    const removal = await worktrees.remove(owned, { deleteBranch: null });
    expect(removal).toMatchObject({ removed: true });
    expect(world.read(removal.trash ?? "", "lib/conf.ini")).toBe("[changed]\n");
    expect(existsSync(join(removal.trash ?? "", ".git-modules/lib/HEAD"))).toBe(true);
  });

  test("it points its module at directories that are not its own: those are not looked into", async () => {
    using scene = await seatedSubmodules();
    const { world, worktrees, owned, sub } = scene;
    const gitDir = world.git(sub, "rev-parse", "--absolute-git-dir");
    world.write(world.root, "secret.txt", "of the user\n");
    world.git(world.root, "config", "--file", join(gitDir, "config"), "core.worktree", world.root);
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: false });
    expect(await worktrees.collect(owned)).toEqual([]);
  });
});

test("the rest of a worktree is committed with the commit a submodule is at, not with what is uncommitted inside", async () => {
  using scene = await seatedSubmodules();
  const { world, worktrees, owned, sub } = scene;
  world.write(sub, "conf.ini", "[rest]\n");
  world.write(owned.path, "rest.txt", "rest\n");
  expect(await worktrees.inspect(owned)).toMatchObject({ uncommitted: ["lib/conf.ini", "rest.txt"] });
  const there = `git -C ${owned.path}/lib`;
  expect(await worktrees.commitRest(owned, "rest")).toEqual({
    problem: "lib/conf.ini is uncommitted inside a submodule",
    fix: `commit it there: ${there} add -A && ${there} commit -m 'Commit what ann left uncommitted'`,
  });
  expect(world.git(world.root, "rev-parse", owned.branch)).toBe(owned.baseCommit ?? "");
  const made = world.commit(sub, "conf.ini", "[rest]\n");
  expect(await worktrees.commitRest(owned, "rest")).toMatchObject({ skipped: [] });
  expect(world.git(world.root, "ls-tree", owned.branch, "lib")).toContain(made);
  expect(world.git(owned.path, "status", "--porcelain")).toBe("");
});
