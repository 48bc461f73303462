import { expect, test } from "bun:test";
import { chmodSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import type { GitWorld, WorktreeSetting } from "./world.ts";

/** A snapshot keeps all work of a worktree, in every state of its repository. */
export function keepingPromises({ seated, kind }: WorktreeSetting): void {
  test("a snapshot holds tracked changes, deletions, renames, modes, links and new files, and touches nothing", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    const { path } = owned;
    world.write(path, "src/a.ts", "unstaged\n");
    world.write(path, "staged.txt", "staged\n");
    world.git(path, "add", "staged.txt");
    world.git(path, "mv", "src/b.ts", "src/moved.ts");
    rmSync(join(path, "README.md"));
    world.write(path, "run.sh", "#!/bin/sh\n");
    chmodSync(join(path, "run.sh"), 0o755);
    symlinkSync("src/a.ts", join(path, "link"));
    world.write(path, "empty", "");
    world.write(path, "ünïcödé 文.txt", "u\n");
    world.write(path, "two\nlines", "n\n");
    world.write(path, "noise.log", "ignored\n");
    const before = world.git(path, "status", "--porcelain", "-z");
    const snapshot = await worktrees.snapshot(owned);
    expect(snapshot).toMatchObject({ ref: "refs/overstory/snap/ann/1/1", skipped: [] });
    expect(world.git(path, "status", "--porcelain", "-z")).toBe(before);
    const commit = snapshot?.commit ?? "";
    expect(world.git(world.root, "rev-parse", `${commit}^`)).toBe(owned.baseCommit ?? "");
    const listed = world.git(world.root, "ls-tree", "-r", "-z", commit).split("\0").filter(Boolean);
    expect(listed.map((entry) => entry.replace(/ blob .*\t/, " ")).toSorted()).toEqual(
      [
        "100644 .gitignore",
        "100644 empty",
        "100644 src/a.ts",
        "100644 src/moved.ts",
        "100644 staged.txt",
        "100644 two\nlines",
        "100644 ünïcödé 文.txt",
        "100755 run.sh",
        "120000 link",
      ].toSorted(),
    );
    expect(world.git(world.root, "show", `${commit}:src/a.ts`)).toBe("unstaged");
    world.git(world.root, "fsck", "--strict", "--no-dangling");
  });

  test("nothing is taken when there is nothing to keep, and the last snapshot stands while nothing changed", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    expect(await worktrees.snapshot(owned)).toBeUndefined();
    world.write(owned.path, "src/a.ts", "one\n");
    const first = await worktrees.snapshot(owned);
    expect(first?.ref).toEndWith("/1/1");
    expect(await worktrees.snapshot(owned)).toEqual(first);
    world.write(owned.path, "src/a.ts", "two\n");
    expect((await worktrees.snapshot(owned))?.ref).toEndWith("/1/2");
    const head = commit("src/a.ts", "two\n");
    expect(await worktrees.snapshot(owned)).toMatchObject({ commit: head, ref: expect.stringMatching(/\/1\/3$/) });
    expect((await worktrees.snapshot({ ...owned, generation: 2 }))?.ref).toEndWith("/1/3");
    world.write(owned.path, "src/a.ts", "three\n");
    expect((await worktrees.snapshot({ ...owned, generation: 2 }))?.ref).toEndWith("/2/1");
  });

  test("what was staged and then overwritten or deleted is kept beside the files", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    world.write(owned.path, "lost.txt", "only staged\n");
    world.git(owned.path, "add", "lost.txt");
    rmSync(join(owned.path, "lost.txt"));
    const snapshot = await worktrees.snapshot(owned);
    expect(world.git(world.root, "show", `${snapshot?.commit}^2:lost.txt`)).toBe("only staged");
    expect(await worktrees.snapshot(owned)).toEqual(snapshot);
  });

  test("edits that the index hides (assume-unchanged, skip-worktree) are seen and kept; a sparse checkout is not", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    const { path } = owned;
    world.git(path, "update-index", "--assume-unchanged", "src/a.ts");
    world.git(path, "update-index", "--skip-worktree", "src/b.ts", "README.md");
    rmSync(join(path, "README.md"));
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: false });
    world.write(path, "src/a.ts", "assumed\n");
    world.write(path, "src/b.ts", "skipped\n");
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: true, files: ["src/a.ts", "src/b.ts"] });
    const snapshot = await worktrees.snapshot(owned);
    expect(world.git(world.root, "show", `${snapshot?.commit}:src/a.ts`)).toBe("assumed");
    expect(world.git(world.root, "show", `${snapshot?.commit}:src/b.ts`)).toBe("skipped");
    expect(world.git(world.root, "ls-tree", "--name-only", snapshot?.commit ?? "", "README.md")).toBe("README.md");
    expect(world.git(path, "ls-files", "-v", "src/a.ts")).toStartWith("h ");
  });

  test("commits made on a detached HEAD and left again are kept; those an amend replaced are not", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const { path, branch } = owned;
    commit("src/c.ts", "c\n");
    world.git(path, "commit", "--quiet", "--amend", "-m", "amended");
    expect(await worktrees.inspect(owned)).toMatchObject({ loose: 0, dirty: false });
    world.git(path, "checkout", "--quiet", "--detach");
    const lost = commit("lost.txt", "not lost\n");
    world.git(path, "checkout", "--quiet", branch);
    expect(await worktrees.inspect(owned)).toMatchObject({ loose: 1, dirty: false, onBranch: true });
    const snapshot = await worktrees.snapshot(owned);
    expect(await worktrees.snapshot(owned)).toEqual(snapshot);
    await worktrees.collect(owned);
    await worktrees.remove(owned, { deleteBranch: null });
    world.git(world.root, "reflog", "expire", "--expire=now", "--all");
    world.git(world.root, "gc", "--quiet", "--prune=now");
    expect(world.git(world.root, "show", `${lost}:lost.txt`)).toBe("not lost");
    // With the branch in main the snapshot still holds what landed nowhere.
    world.git(world.root, "merge", "--quiet", branch);
    expect(
      await worktrees.isLanded({ commit: snapshot?.commit ?? "", base: owned.baseCommit }, "refs/heads/main"),
    ).toBe(false);
  });

  test("commits that the branch lacks are told, until they are on it", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const { path, branch } = owned;
    const offBranch = async () => (await worktrees.inspect({ ...owned, baseRef: "main" })).offBranch;
    const first = commit("one.txt", "1\n");
    expect(await offBranch()).toBeNull();
    world.git(path, "checkout", "--quiet", "--detach");
    expect(await offBranch()).toBeNull();
    const second = commit("two.txt", "2\n");
    const lacks = { on: null, tips: [second], branchTip: first };
    expect(await offBranch()).toMatchObject({ ...lacks, messages: [expect.any(String)] });
    expect((await offBranch())?.branchMessages).toHaveLength(1);
    world.git(path, "checkout", "--quiet", branch);
    expect(await offBranch()).toMatchObject(lacks);
    world.git(path, "cherry-pick", second);
    expect(await offBranch()).toBeNull();
    world.git(path, "checkout", "--quiet", "-b", "other");
    expect(await offBranch()).toBeNull();
    commit("three.txt", "3\n");
    expect(await offBranch()).toMatchObject({ on: "other", messages: [expect.any(String)] });
    world.git(path, "checkout", "--quiet", branch);
    world.git(path, "merge", "--quiet", "other");
    expect(await offBranch()).toBeNull();
  });

  test("what a rebase put aside is kept when the worktree goes in the middle of it", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const { path } = owned;
    world.write(world.root, "src/a.ts", "theirs\n");
    world.git(world.root, "commit", "--quiet", "-am", "theirs");
    commit("src/a.ts", "ours\n");
    world.write(path, "src/b.ts", "dirty before the rebase\n");
    const onto = world.git(world.root, "rev-parse", "main");
    if (kind === "clone") world.git(path, "fetch", "--quiet", world.root, "main");
    expect(() => world.git(path, "rebase", "--autostash", onto)).toThrow();
    const aside = world.read(path, kind === "clone" ? ".git/rebase-merge/autostash" : autostashOf(world, path)).trim();
    const snapshot = await worktrees.snapshot(owned);
    await worktrees.remove(owned, { deleteBranch: null });
    world.git(world.root, "gc", "--quiet", "--prune=now");
    expect(world.git(world.root, "rev-list", "--parents", "-1", snapshot?.commit ?? "")).toContain(aside);
    expect(world.git(world.root, "show", `${aside}:src/b.ts`)).toBe("dirty before the rebase");
  });

  test("files too large and repositories inside are left out and named; the removal keeps them as files", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    world.write(owned.path, "huge.bin", new Uint8Array(2_000));
    world.write(owned.path, "small.txt", "s\n");
    for (const dir of ["nested", "unborn"]) {
      world.write(owned.path, `${dir}/inside.txt`, "i\n");
      world.git(join(owned.path, dir), "init", "--quiet");
    }
    world.git(join(owned.path, "nested"), "add", "-A");
    world.git(join(owned.path, "nested"), "commit", "--quiet", "-m", "n");
    const snapshot = await worktrees.snapshot(owned);
    expect(snapshot?.skipped.toSorted()).toEqual(["huge.bin", "nested/", "unborn/"]);
    expect(world.git(world.root, "ls-tree", "-r", "--name-only", snapshot?.commit ?? "")).toContain("small.txt");
    const { trash } = await worktrees.remove(owned, { deleteBranch: null });
    expect(statSync(join(trash ?? "", "huge.bin")).size).toBe(2_000);
    expect(world.read(trash ?? "", "nested/inside.txt")).toBe("i\n");
    expect(world.read(trash ?? "", "unborn/inside.txt")).toBe("i\n");
  });

  test("bytes are kept as they are, whatever line-end settings say", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    world.git(owned.path, "config", "core.autocrlf", "true");
    world.write(owned.path, ".gitattributes", "* text=auto\n*.u16 working-tree-encoding=UTF-16\n*.id ident\n");
    world.write(owned.path, "dos.txt", "a\r\nb\r\n");
    world.write(owned.path, "mixed.txt", "a\r\nb\n");
    world.write(owned.path, "x.u16", "not utf-16 at all\n");
    world.write(owned.path, "x.id", "$Id: expanded $\n");
    const snapshot = await worktrees.snapshot(owned);
    const stored = (path: string): string =>
      Bun.spawnSync({
        cmd: ["git", "cat-file", "blob", `${snapshot?.commit}:${path}`],
        cwd: world.root,
      }).stdout.toString();
    expect(stored("dos.txt")).toBe("a\r\nb\r\n");
    expect(stored("mixed.txt")).toBe("a\r\nb\n");
    expect(stored("x.u16")).toBe("not utf-16 at all\n");
    expect(stored("x.id")).toBe("$Id: expanded $\n");
  });

  test("a detached or unborn HEAD and a merge in conflict can be kept too", async () => {
    using scene = await seated();
    const { world, worktrees, owned, commit } = scene;
    const tip = commit("src/a.ts", "mine\n");
    world.git(owned.path, "checkout", "--quiet", "--detach", "HEAD");
    world.write(owned.path, "detached.txt", "d\n");
    const detached = await worktrees.snapshot(owned);
    expect(world.git(world.root, "rev-parse", `${detached?.commit}^`)).toBe(tip);
    world.git(owned.path, "clean", "-qfd");
    world.git(owned.path, "checkout", "--quiet", "-b", "other", owned.baseCommit ?? "");
    world.write(owned.path, "src/a.ts", "theirs\n");
    world.git(owned.path, "commit", "--quiet", "-am", "theirs");
    expect(() => world.git(owned.path, "merge", tip)).toThrow();
    const conflicted = await worktrees.snapshot(owned);
    expect(world.git(world.root, "show", `${conflicted?.commit}:src/a.ts`)).toContain("<<<<<<<");
    world.git(owned.path, "merge", "--abort");
    world.git(owned.path, "checkout", "--quiet", "--orphan", "blank");
    const unborn = await worktrees.snapshot(owned);
    expect(world.git(world.root, "rev-list", "--count", unborn?.commit ?? "")).toBe("1");
    world.git(world.root, "fsck", "--strict", "--no-dangling");
  });

  test("the files of a worktree whose git directory was destroyed are still kept", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    world.write(owned.path, "src/a.ts", "survives\n");
    world.write(owned.path, "new.txt", "too\n");
    rmSync(join(owned.path, ".git"), { recursive: true });
    if (kind === "linked") rmSync(join(world.root, ".git", "worktrees"), { recursive: true });
    const snapshot = await worktrees.snapshot(owned);
    expect(world.git(world.root, "show", `${snapshot?.commit}:src/a.ts`)).toBe("survives");
    expect(world.git(world.root, "diff", "--name-only", `${snapshot?.commit}^`, snapshot?.commit ?? "")).toBe(
      "new.txt\nsrc/a.ts",
    );
  });
}

/** The path of the autostash of a rebase, relative to the worktree. */
const autostashOf = (world: GitWorld, path: string): string =>
  relative(path, join(world.git(path, "rev-parse", "--absolute-git-dir"), "rebase-merge", "autostash"));
