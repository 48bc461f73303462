import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { requestFor } from "../../../../testkit/contracts/worktrees/world.ts";
import { statePath } from "../../../../testkit/state.ts";
import { type SubmoduleWorldOptions, seatedSubmodules, submoduleWorld } from "../../../../testkit/submodule-world.ts";
import { trustName } from "../../../domain/project/place.ts";
import { readTrust, writeTrust } from "../../trust-file.ts";
import { gitMerging } from "../merging.ts";
import { gitWorktrees } from "../worktrees.ts";

const kinds = ["linked", "clone"] as const;

describe.each(kinds)("a %s worktree with submodules", (kind) => {
  test("has their files, nested ones too, and is clean", async () => {
    using scene = await seatedSubmodules(kind);
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
    using scene = await seatedSubmodules(kind);
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
    using scene = await seatedSubmodules(kind);
    const { world, owned, sub } = scene;
    world.git(owned.path, "submodule", "deinit", "--force", "lib");
    expect(existsSync(join(sub, "conf.ini"))).toBe(false);
    if (kind === "clone") world.git(owned.path, "config", "submodule.lib.url", "unused");
    else world.git(world.root, "config", "submodule.lib.url", "unused");
    world.git(owned.path, "submodule", "update", "--init");
    expect(world.read(sub, "conf.ini")).toBe("[conf]\n");
  });

  test("creating it again leaves the work in a submodule alone", async () => {
    using scene = await seatedSubmodules(kind);
    const { world, worktrees, owned, sub } = scene;
    world.write(sub, "conf.ini", "mine\n");
    const again = await worktrees.create(requestFor(owned));
    expect(again.ok && again.value.unfilled).toBeUndefined();
    expect(world.read(sub, "conf.ini")).toBe("mine\n");
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
      using scene = await seatedSubmodules(kind, options);
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
            fix: "git submodule update --init --recursive -- lib",
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
    using scene = await seatedSubmodules();
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
