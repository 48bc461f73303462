import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { requestFor } from "../../../../testkit/contracts/worktrees/world.ts";
import { statePath } from "../../../../testkit/state.ts";
import { type SubmoduleWorldOptions, submoduleWorld } from "../../../../testkit/submodule-world.ts";
import type { WorktreeKind } from "../../../domain/agent/agent.ts";
import { trustName } from "../../../domain/project/place.ts";
import { readTrust, writeTrust } from "../../trust-file.ts";
import { gitMerging } from "../merge/merging.ts";
import { gitWorktrees } from "../worktrees.ts";

const kinds = ["linked", "clone"] as const;

async function seated(kind: Exclude<WorktreeKind, "root"> = "linked", options: SubmoduleWorldOptions = {}) {
  const world = submoduleWorld(options);
  const worktrees = gitWorktrees(world.root);
  const owned = world.worktree("ann", kind);
  const created = await worktrees.create(requestFor(owned));
  if (!created.ok) throw new Error(created.refusal.problem);
  const sub = join(owned.path, world.path);
  return { world, worktrees, owned, sub, seat: created.value, [Symbol.dispose]: () => world[Symbol.dispose]() };
}

describe.each(kinds)("a %s worktree with submodules", (kind) => {
  test("has their files, nested ones too, and is clean", async () => {
    using scene = await seated(kind);
    const { world, owned, sub, seat } = scene;
    expect(seat.unfilled).toBeUndefined();
    expect(world.read(sub, "conf.ini")).toBe("[conf]\n");
    expect(world.read(sub, "inner/deep.txt")).toBe("deep\n");
    expect(world.git(owned.path, "status", "--porcelain")).toBe("");
    expect(world.git(owned.path, "submodule", "status", "--recursive")).toMatch(
      /^[0-9a-f]+ lib .*\n [0-9a-f]+ lib\/inner /,
    );
    expect(world.git(sub, "remote", "get-url", "origin")).toBe(join(world.root, "..", "lib.git"));
  });

  test("`git submodule update --init` of its agent changes nothing of the user's, and needs no network", async () => {
    using scene = await seated(kind);
    const { world, owned, sub } = scene;
    const before = world.configurations();
    world.git(owned.path, "submodule", "update", "--init", "--recursive");
    world.git(owned.path, "submodule", "update", "--init", "--recursive", "--force", "--checkout");
    expect(world.configurations()).toEqual(before);
    expect(Object.keys(before)).toHaveLength(4);
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
    expect(world.git(join(world.root, "lib"), "rev-parse", "HEAD")).toBe(world.git(sub, "rev-parse", "HEAD"));
  });

  test("an agent that deletes its copy can fill it again by git's own command", async () => {
    using scene = await seated(kind);
    const { world, owned, sub } = scene;
    world.git(owned.path, "submodule", "deinit", "--force", "lib");
    expect(existsSync(join(sub, "conf.ini"))).toBe(false);
    if (kind === "clone") world.git(owned.path, "config", "submodule.lib.url", "unused");
    else world.git(world.root, "config", "submodule.lib.url", "unused");
    world.git(owned.path, "submodule", "update", "--init");
    expect(world.read(sub, "conf.ini")).toBe("[conf]\n");
  });

  test("creating it again leaves the work in a submodule alone", async () => {
    using scene = await seated(kind);
    const { world, worktrees, owned, sub } = scene;
    world.write(sub, "conf.ini", "mine\n");
    const again = await worktrees.create(requestFor(owned));
    expect(again.ok && again.value.unfilled).toBeUndefined();
    expect(world.read(sub, "conf.ini")).toBe("mine\n");
  });

  test("commits in a submodule are in the user's module after a turn, and after the worktree is gone", async () => {
    using scene = await seated(kind);
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
    using scene = await seated(kind);
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
    using scene = await seated(kind);
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
    using scene = await seated(kind);
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

describe.each(kinds)("a %s worktree that is recovered", (kind) => {
  /** Removes the worktree with all that belongs to it, then makes and fills it again as `ov recover` does. */
  const recover = async ({ worktrees, owned }: Awaited<ReturnType<typeof seated>>) => {
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
    using scene = await seated(kind);
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

  test("has its submodules at the commits they were at, though the project did not point there yet", async () => {
    using scene = await seated(kind);
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
    using scene = await seated(kind);
    const { world, worktrees, owned, sub } = scene;
    world.write(sub, "conf.ini", "a try\n");
    await worktrees.collect(owned);
    world.git(sub, "checkout", "--quiet", "--", "conf.ini");
    await recover(scene);
    expect(world.read(sub, "conf.ini")).toBe("[conf]\n");
    expect(world.git(sub, "status", "--porcelain")).toBe("");
  });

  test("gets everything back by a second try when the first was cut short", async () => {
    using scene = await seated(kind);
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
  using scene = await seated();
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
  const rename = (world: Awaited<ReturnType<typeof seated>>["world"], at: string): void => {
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
    using scene = await seated();
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

describe("what the user has", () => {
  const shapes: readonly (readonly [string, SubmoduleWorldOptions])[] = [
    ["a path in a directory, and another name", { path: "third party/lib", name: "the lib" }],
    ["a name with slashes", { path: "lib", name: "vendor/deep/lib" }],
    ["letters that are not ASCII", { path: "bücher/ライブラリ", name: "bücher" }],
    ["quotes in path and name", { path: `li"b's`, name: `li"b's` }],
    ["a relative address", { url: "relative" }],
  ];
  test.each(shapes)("%s", async (_, options) => {
    for (const kind of kinds) {
      using scene = await seated(kind, options);
      const { world, worktrees, owned, sub, seat } = scene;
      expect(seat.unfilled).toBeUndefined();
      expect(world.read(sub, "inner/deep.txt")).toBe("deep\n");
      const before = world.configurations();
      world.git(owned.path, "submodule", "update", "--init", "--recursive");
      expect(world.configurations()).toEqual(before);
      expect(world.git(owned.path, "status", "--porcelain")).toBe("");
      const made = world.commit(sub, "conf.ini", "[changed]\n");
      expect(await worktrees.collect(owned)).toMatchObject([{ path: world.path, problem: null }]);
      expect(world.refs("refs/overstory/")).toContain(`refs/overstory/sub/ann/${made}`);
    }
  });

  test("a bare repository with checkouts beside it", async () => {
    using world = submoduleWorld();
    const base = dirname(world.root);
    const bare = join(base, "bare.git");
    const main = join(base, "main");
    world.git(base, "clone", "--quiet", "--bare", world.root, bare);
    world.git(bare, "worktree", "add", "--quiet", main, "main");
    // As a person would, while the remotes were there.
    world.git(main, "-c", `submodule.lib.url=${world.module}`, "submodule", "update", "--init", "--quiet");
    const inner = join(world.module, "modules", "inner");
    const outer = join(main, "lib");
    world.git(outer, "-c", `submodule.inner.url=${inner}`, "submodule", "update", "--init", "--quiet");
    const worktrees = gitWorktrees(main);
    const owned = { ...world.worktree("ann", "linked"), path: join(main, ".overstory", "worktrees", "ann") };
    const created = await worktrees.create(requestFor(owned));
    expect(created).toMatchObject({ ok: true });
    expect(created.ok && created.value.unfilled).toBeUndefined();
    expect(world.read(owned.path, "lib/inner/deep.txt")).toBe("deep\n");
    const made = world.commit(join(owned.path, "lib"), "conf.ini", "[changed]\n");
    await worktrees.collect(owned);
    const module = world.git(outer, "rev-parse", "--absolute-git-dir");
    expect(world.refs("refs/overstory/", module)).toContain(`refs/overstory/sub/ann/${made}`);
  });

  test("a submodule with its repository in its own directory, as old versions of git made it", async () => {
    using world = submoduleWorld();
    const link = join(world.root, "lib", ".git");
    rmSync(link);
    renameSync(world.module, link);
    world.git(world.root, `--git-dir=${link}`, "--work-tree=lib", "config", "--unset", "core.worktree");
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    await worktrees.create(requestFor(owned));
    expect(world.read(owned.path, "lib/conf.ini")).toBe("[conf]\n");
    const made = world.commit(join(owned.path, "lib"), "conf.ini", "[changed]\n");
    await worktrees.collect(owned);
    expect(world.refs("refs/overstory/", link)).toContain(`refs/overstory/sub/ann/${made}`);
  });

  test("a module whose directory is not checked out at the moment", async () => {
    using world = submoduleWorld();
    rmSync(join(world.root, "lib"), { recursive: true });
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
    expect(world.read(owned.path, "lib/inner/deep.txt")).toBe("deep\n");
    const made = world.commit(join(owned.path, "lib"), "conf.ini", "[changed]\n");
    expect(await worktrees.collect(owned)).toMatchObject([{ refs: [`refs/overstory/sub/ann/${made}`] }]);
  });
});

describe("a submodule that cannot be filled is named", () => {
  test("because it is not initialised in the project's checkout", async () => {
    using world = submoduleWorld();
    rmSync(world.module, { recursive: true });
    rmSync(join(world.root, "lib"), { recursive: true });
    const owned = world.worktree("ann", "linked");
    const created = await gitWorktrees(world.root).create(requestFor(owned));
    expect(created).toMatchObject({
      ok: true,
      value: {
        unfilled: [
          {
            path: "lib",
            problem: "it is not initialised in the project's checkout",
            fix: "git submodule update --init --recursive -- 'lib'",
          },
        ],
      },
    });
    expect(readdirSync(join(owned.path, "lib"))).toEqual([]);
  });

  test("because its commit is not there, or one inside it is not", async () => {
    using world = submoduleWorld();
    rmSync(join(world.module, "modules"), { recursive: true });
    const owned = world.worktree("ann", "linked");
    const worktrees = gitWorktrees(world.root);
    const created = await worktrees.create(requestFor(owned));
    expect(created.ok && created.value.unfilled?.map(({ path }) => path)).toEqual(["lib/inner"]);
    world.git(world.root, "update-index", "--cacheinfo", `160000,${"1".repeat(40)},lib`);
    world.git(world.root, "commit", "--quiet", "-m", "to nowhere");
    const other = world.worktree("bob", "clone");
    const second = await worktrees.create(requestFor(other));
    expect(second).toMatchObject({
      value: { unfilled: [{ path: "lib", problem: "its commit 1111111111 is not in the project's copy of it" }] },
    });
    // The name is told again to whoever asks again.
    expect(await worktrees.create(requestFor(other))).toEqual(second);
  });

  test("one that can be filled by now is filled by the next look, unless somebody used its directory", async () => {
    using world = submoduleWorld();
    const away = join(dirname(world.root), "away");
    renameSync(world.module, away);
    rmSync(join(world.root, "lib", ".git"));
    const worktrees = gitWorktrees(world.root);
    const [ann, bob] = [world.worktree("ann", "linked"), world.worktree("bob", "linked")];
    for (const owned of [ann, bob]) await worktrees.create(requestFor(owned));
    world.write(bob.path, "lib/own.txt", "own\n");
    mkdirSync(dirname(world.module), { recursive: true });
    renameSync(away, world.module);
    await worktrees.create(requestFor(ann));
    expect(world.read(ann.path, "lib/conf.ini")).toBe("[conf]\n");
    expect(await worktrees.create(requestFor(bob))).toMatchObject({
      value: { unfilled: [{ path: "lib", problem: "its directory is not empty" }] },
    });
    expect(readdirSync(join(bob.path, "lib"))).toEqual(["own.txt"]);
  });

  test("a preparation that was killed is done again", async () => {
    using scene = await seated();
    const { world, worktrees, owned, sub } = scene;
    const admin = world.git(owned.path, "rev-parse", "--absolute-git-dir");
    mkdirSync(join(admin, "modules.preparing"));
    renameSync(join(admin, "modules", "lib"), join(admin, "modules.preparing", "lib"));
    rmSync(join(sub, ".git"));
    rmSync(join(sub, "inner"), { recursive: true });
    writeFileSync(join(sub, "conf.ini"), "half");
    expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
    expect(world.git(owned.path, "status", "--porcelain")).toBe("");
    expect(world.read(sub, "inner/deep.txt")).toBe("deep\n");
    expect(existsSync(join(admin, "modules.preparing"))).toBe(false);
  });
});

describe("what an agent does to its submodules", () => {
  test("it adds one, which the user has from then on", async () => {
    using scene = await seated();
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
    using scene = await seated("clone", { url: "relative" });
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
    using scene = await seated();
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
    using scene = await seated();
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
    using scene = await seated();
    const { world, worktrees, owned, sub } = scene;
    const made = world.commit(sub, "conf.ini", "[last]\n");
    rmSync(owned.path, { recursive: true });
    expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: true, problem: null });
    expect(world.refs("refs/overstory/")).toEqual([`refs/overstory/sub/ann/${made}`]);
  });

  test("it breaks the repository of one: that is told, the rest is kept, and its files go to the trash", async () => {
    using scene = await seated();
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
    using scene = await seated();
    const { world, worktrees, owned, sub } = scene;
    const gitDir = world.git(sub, "rev-parse", "--absolute-git-dir");
    world.write(world.root, "secret.txt", "of the user\n");
    world.git(world.root, "config", "--file", join(gitDir, "config"), "core.worktree", world.root);
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: false });
    expect(await worktrees.collect(owned)).toEqual([]);
  });
});

test("the rest of a worktree is committed with the commit a submodule is at, not with what is uncommitted inside", async () => {
  using scene = await seated();
  const { world, worktrees, owned, sub } = scene;
  world.write(sub, "conf.ini", "[rest]\n");
  world.write(owned.path, "rest.txt", "rest\n");
  expect(await worktrees.inspect(owned)).toMatchObject({ uncommitted: ["lib/conf.ini", "rest.txt"] });
  expect(await worktrees.commitRest(owned, "rest")).toEqual({
    problem: "lib/conf.ini is uncommitted inside a submodule",
    fix: `commit it there: git -C ${owned.path}/lib commit -a`,
  });
  expect(world.git(world.root, "rev-parse", owned.branch)).toBe(owned.baseCommit ?? "");
  const made = world.commit(sub, "conf.ini", "[rest]\n");
  expect(await worktrees.commitRest(owned, "rest")).toMatchObject({ skipped: [] });
  expect(world.git(world.root, "ls-tree", owned.branch, "lib")).toContain(made);
  expect(world.git(owned.path, "status", "--porcelain")).toBe("");
});

describe("a submodule with a filter of its own", () => {
  const rot = { clean: "tr a-z n-za-m", smudge: "tr a-z n-za-m", process: null, required: null };

  function filtered() {
    const world = submoduleWorld({ files: { ".gitattributes": "*.rot filter=rot\n" } });
    const lib = join(world.root, "lib");
    for (const key of ["clean", "smudge"] as const) world.git(lib, "config", `filter.rot.${key}`, rot[key]);
    world.commit(lib, "a.rot", "hello\n");
    world.git(world.root, "commit", "--quiet", "-am", "filtered");
    const trust = statePath(world.root, trustName);
    const base = dirname(world.root);
    return {
      ...world,
      trust,
      worktrees: gitWorktrees(world.root),
      merging: gitMerging(world.root, { poolDir: join(base, "pool"), scratch: join(base, "scratch") }),
      confirm: () => writeTrust(trust, { ...readTrust(trust), filters: { rot } }),
    };
  }

  test.each(kinds)("that the operator confirmed, in a %s worktree and in a gate place", async (kind) => {
    using world = filtered();
    world.confirm();
    const owned = world.worktree("ann", kind);
    const created = await world.worktrees.create(requestFor(owned));
    expect(created.ok && created.value.unfilled).toBeUndefined();
    const sub = join(owned.path, "lib");
    expect(world.read(sub, "a.rot")).toBe("hello\n");
    expect(world.git(owned.path, "status", "--porcelain")).toBe("");
    expect(await world.worktrees.inspect(owned)).toMatchObject({ dirty: false });
    const made = world.commit(sub, "a.rot", "changed\n");
    expect(world.git(sub, "cat-file", "blob", "HEAD:a.rot")).toBe("punatrq");
    world.git(owned.path, "commit", "--quiet", "-am", "bump");
    expect(await world.worktrees.collect(owned)).toMatchObject([{ refs: [`refs/overstory/sub/ann/${made}`] }]);
    const { path, unfilled } = await world.merging.checkOut(1, world.git(owned.path, "rev-parse", "HEAD"));
    expect(unfilled).toBeUndefined();
    expect(world.read(path, "lib/a.rot")).toBe("changed\n");
    // Kept as they are, not as the filter would store them.
    world.write(sub, "a.rot", "half done\n");
    const [kept] = await world.worktrees.collect(owned);
    expect(world.git(world.module, "cat-file", "blob", `${kept?.refs[0]}:a.rot`)).toBe("half done");
  });

  test("that nobody confirmed: the submodule stays empty and the filter is named", async () => {
    using world = filtered();
    const owned = world.worktree("ann", "linked");
    const created = await world.worktrees.create(requestFor(owned));
    expect(created).toMatchObject({ value: { unfilled: [{ path: "lib", problem: expect.stringContaining("rot") }] } });
    const main = world.git(world.root, "rev-parse", "main");
    expect((await world.merging.checkOut(1, main)).unfilled).toMatchObject([{ path: "lib" }]);
    world.confirm();
    const { path, unfilled } = await world.merging.checkOut(1, main);
    expect(unfilled).toBeUndefined();
    expect(world.read(path, "lib/a.rot")).toBe("hello\n");
  });
});
