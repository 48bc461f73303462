import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { directoryIdentity } from "../../../src/host/git/places.ts";
import { gitWorld, requestFor, type WorktreeSetting } from "./world.ts";

/** Worktrees are made whole, once, and never over a foreign directory. */
export function makingPromises({ seated, kind, open }: WorktreeSetting): void {
  test("a new worktree holds the base on its own branch and is clean", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    expect(world.git(owned.path, "symbolic-ref", "--short", "HEAD")).toBe(owned.branch);
    expect(world.read(owned.path, "src/a.ts")).toBe("export const a = 1;\n");
    expect(world.git(owned.path, "status", "--porcelain")).toBe("");
    const head = owned.baseCommit;
    expect(await worktrees.inspect(owned)).toEqual({
      exists: true,
      head,
      ahead: 0,
      messages: [],
      dirty: false,
      onBranch: true,
      halfWay: null,
      loose: 0,
      offBranch: null,
      uncommitted: [],
      files: [],
    });
  });

  test("a new worktree of a sparse checkout has all files, and takes new ones anywhere", async () => {
    using world = gitWorld({ files: { "in/a.txt": "a\n", "out/b.txt": "b\n" } });
    world.git(world.root, "sparse-checkout", "set", "in");
    const owned = world.worktree("sparse", kind);
    const created = await open(world.root).create(requestFor(owned));
    expect(created).toMatchObject({ ok: true });
    expect(world.read(owned.path, "out/b.txt")).toBe("b\n");
    world.write(owned.path, "out/c.txt", "c\n");
    world.git(owned.path, "add", "out/c.txt");
    expect(world.git(owned.path, "status", "--porcelain")).toBe("A  out/c.txt");
    expect(existsSync(`${world.root}/out`)).toBe(false);
  });

  test("what the agent's program must be able to write to covers its commits, but no configuration that is shared", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    const roots = await worktrees.writableRoots(owned);
    const covers = (path: string): boolean => roots.some((root) => path === root || path.startsWith(`${root}/`));
    expect(roots).toContain(owned.path);
    expect(covers(world.git(owned.path, "rev-parse", "--absolute-git-dir"))).toBe(true);
    expect(covers(world.git(owned.path, "rev-parse", "--path-format=absolute", "--git-path", "objects"))).toBe(true);
    for (const shared of ["config", "hooks"]) expect(covers(`${world.root}/.git/${shared}`)).toBe(false);
    expect(await worktrees.writableRoots({ ...owned, kind: "root" })).toEqual([]);
  });

  test("creating it again answers the same seat and leaves the work in it alone", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    world.write(owned.path, "draft.txt", "mine\n");
    const again = await worktrees.create(requestFor(owned));
    const { path, branch, baseCommit } = owned;
    expect(again).toEqual({
      ok: true,
      value: { path, branch, baseCommit: baseCommit ?? "", identity: directoryIdentity(path) },
    });
    expect(world.read(path, "draft.txt")).toBe("mine\n");
  });

  test("a directory that is not ours is never adopted", async () => {
    using world = gitWorld();
    const owned = world.worktree("ann", kind);
    world.write(owned.path, "precious.txt", "theirs\n");
    const refused = await open(world.root).create(requestFor(owned));
    expect(refused).toMatchObject({ ok: false, refusal: { kind: "worktree-failed", path: owned.path } });
    expect(readdirSync(owned.path)).toEqual(["precious.txt"]);
    expect(world.git(world.root, "for-each-ref", "refs/heads/overstory")).toBe("");
  });

  test("a base that does not exist leaves neither directory nor branch", async () => {
    using world = gitWorld();
    const owned = world.worktree("ann", kind);
    const refused = await open(world.root).create({ ...requestFor(owned), baseRef: "nowhere" });
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("nowhere") } });
    expect(existsSync(owned.path)).toBe(false);
    expect(world.git(world.root, "for-each-ref", "refs/heads/overstory")).toBe("");
  });

  test("a branch that was kept is continued where it stood", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const tip = commit("src/c.ts", "c\n");
    await worktrees.collect(owned);
    await worktrees.remove(owned, { deleteBranch: null });
    const again = await worktrees.create(requestFor(owned));
    expect(again.ok).toBe(true);
    expect(world.git(owned.path, "rev-parse", "HEAD")).toBe(tip);
    expect(world.read(owned.path, "src/c.ts")).toBe("c\n");
  });

  test("many worktrees asked for at once are all made", async () => {
    using world = gitWorld();
    const worktrees = open(world.root);
    const all = Array.from({ length: 8 }, (_, i) => world.worktree(`agent-${i}`, kind));
    const made = await Promise.all(all.map((owned) => worktrees.create(requestFor(owned))));
    expect(made.every(({ ok }) => ok)).toBe(true);
  });

  test("facts tell commits, uncommitted files and everything that differs from the base", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const head = commit("src/c.ts", "c\n");
    world.write(owned.path, "src/a.ts", "changed\n");
    world.write(owned.path, "new file.txt", "n\n");
    world.write(owned.path, "noise.log", "ignored\n");
    expect(await worktrees.inspect(owned)).toEqual({
      exists: true,
      head,
      ahead: 1,
      messages: [expect.any(String)],
      dirty: true,
      onBranch: true,
      halfWay: null,
      loose: 0,
      offBranch: null,
      uncommitted: ["new file.txt", "src/a.ts"],
      files: ["new file.txt", "src/a.ts", "src/c.ts"],
    });
  });
}
