import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { damages, plantBranch } from "../../../../testkit/damaged-objects.ts";
import { gitMergeWorld } from "../../../../testkit/git-merge-world.ts";

describe("looking at history", () => {
  test("names stand for commits; what is no name of one stands for nothing", async () => {
    using world = gitMergeWorld();
    const main = world.tip("main");
    world.git(world.root, "tag", "-a", "-m", "t", "v1");
    for (const name of ["main", "refs/heads/main", "v1", "HEAD", main])
      expect(await world.merging.commitOf(name)).toBe(main);
    for (const name of ["none", "", "--all", "f".repeat(40), `${main}^{tree}`])
      expect(await world.merging.commitOf(name)).toBeUndefined();
    expect(await world.merging.treeOf(main)).toBe(world.tip("main^{tree}"));
    expect(await world.merging.subjectOf(main)).toBe("first");
  });

  test("a commit contains itself and its ancestors, and not what comes after", async () => {
    using world = gitMergeWorld();
    const main = world.tip("main");
    const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
    expect(await world.merging.contains(side, main)).toBe(true);
    expect(await world.merging.contains(main, main)).toBe(true);
    expect(await world.merging.contains(main, side)).toBe(false);
    expect(await world.merging.contains(main, "f".repeat(40))).toBe(false);
    await expect(world.merging.contains("f".repeat(40), main)).rejects.toThrow();
  });

  test("a path in a commit is told by type, id and size, and what is there can be read", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "a\n", "d/two\nlines": "d", empty: "" } });
    const main = world.tip("main");
    const side = world.branch("side", () => world.write(world.root, "a.txt", "\0b"));
    const places = [
      [side, "a.txt"],
      [main, "none missing"],
      [main, "d"],
      [main, "d/two\nlines"],
      [`${main}^{tree}`, "empty"],
      [main, "a.txt"],
    ] as const;
    const found = await world.merging.objectsAt(places.map(([commit, path]) => ({ commit, path })));
    expect(found.map((one) => one?.type)).toEqual(["file", undefined, "directory", "file", "file", "file"]);
    const files = found.flatMap((one) => (one?.type === "file" ? [one] : []));
    expect(files.map(({ bytes }) => bytes)).toEqual([2, 1, 0, 2]);
    expect(files.at(-1)?.id).toBe(world.tip("main:a.txt"));
    const read = await world.merging.readBlobs(files.map(({ id }) => id));
    expect(read.map((bytes) => new TextDecoder().decode(bytes))).toEqual(["\0b", "d", "", "a\n"]);
    expect(await world.merging.objectsAt([])).toEqual([]);
  });

  test("branches between two commits are those that the second holds and the first does not", async () => {
    using world = gitMergeWorld();
    const main = world.tip("main");
    const a = world.branch("a", () => world.write(world.root, "a", "a\n"));
    const b = world.branch("b", () => world.write(world.root, "b", "b\n"), "a");
    world.branch("c", () => world.write(world.root, "c", "c\n"));
    expect(await world.merging.refsBetween(main, b)).toEqual([
      { ref: "refs/heads/a", commit: a },
      { ref: "refs/heads/b", commit: b },
    ]);
    expect(await world.merging.refsBetween(b, b)).toEqual([]);
  });

  test.each(Object.entries(damages))(
    "a branch with %s makes no difference to questions about others",
    async (_, damaged) => {
      using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
      const main = world.tip("main");
      const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
      const bad = damaged(world);
      plantBranch(world, "bad", bad);
      expect(await world.merging.refsBetween(main, side)).toEqual([{ ref: "refs/heads/side", commit: side }]);
      expect(await world.merging.refsWith(side)).toEqual(["refs/heads/side"]);
      expect((await world.merging.refsBelow("refs/heads/")).map(({ ref }) => ref)).toContain("refs/heads/side");
      expect(await world.merging.contains(side, bad)).toBe(false);
      expect(await world.merging.unreadable(main, side)).toBeUndefined();
      expect(await world.merging.unreadable(main, bad)).toBeString();
      // Where the other side cannot be read, nothing is said about a commit.
      await expect(world.merging.unreadable("f".repeat(40), side)).rejects.toThrow();
    },
    30_000,
  );

  test("changed files are those since the common ancestor, under both names of a rename", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" } });
    const side = world.branch("side", () => world.git(world.root, "mv", "a.txt", "c.txt"));
    world.branch("main", () => world.write(world.root, "b.txt", "changed\n"));
    expect(await world.merging.changedFiles(world.tip("main"), side)).toEqual(["a.txt", "c.txt"]);
  });

  test("many branches have the same changed files as each of them alone, whatever their histories look like", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "one\n", "b.txt": "b\n" } });
    const { merging, root, git } = world;
    const write = (path: string, text: string) => () => world.write(root, path, text);
    const first = world.tip("main");
    const before = world.branch("before", write("old.txt", "o\n"));
    world.branch("main", write("b.txt", "changed\n"));
    const side = world.branch("side", write("a.txt", "two\n"), first);
    const onSide = world.branch("on-side", write("more.txt", "m\n"), "side");
    // Its history leaves that of the target at two commits.
    git(root, "checkout", "--quiet", "side");
    git(root, "merge", "--quiet", "--no-edit", "main");
    git(root, "checkout", "--quiet", "main");
    git(root, "merge", "--quiet", "--no-edit", onSide);
    const crossed = world.branch("crossed", write("c.txt", "c\n"), "side");
    git(root, "checkout", "--quiet", "--orphan", "lone");
    git(root, "commit", "--quiet", "-m", "lone");
    const lone = world.tip("HEAD");
    git(root, "checkout", "--quiet", "--force", "main");
    const target = world.tip("main");
    const heads = [before, crossed, lone, target, first, side, crossed];
    const each = await merging.changedFilesOfEach(target, heads);
    for (const [at, head] of heads.entries()) expect(each[at]).toEqual(await merging.changedFiles(target, head));
    expect(each.map((files) => files.length > 0)).toEqual([true, true, true, false, false, false, true]);
    expect(await merging.changedFilesOfEach(target, [])).toEqual([]);
    await expect(merging.changedFilesOfEach(target, [before, "f".repeat(40)])).rejects.toThrow();
  });

  test("a name stands for what it stands for now, also when it moved, was packed or deleted since it was asked for", async () => {
    using world = gitMergeWorld();
    const { merging, root, git } = world;
    const main = world.tip("main");
    expect(await merging.commitOf("refs/heads/other")).toBeUndefined();
    git(root, "branch", "other", main);
    expect(await merging.commitOf("refs/heads/other")).toBe(main);
    const side = world.branch("side", () => world.write(root, "s", "s\n"));
    git(root, "branch", "--force", "other", side);
    git(root, "pack-refs", "--all");
    git(root, "gc", "--quiet");
    expect(await merging.commitOf("refs/heads/other")).toBe(side);
    expect(await merging.treeOf(side)).toBe(world.tip("side^{tree}"));
    git(root, "branch", "-D", "other");
    expect(await merging.commitOf("refs/heads/other")).toBeUndefined();
    expect(await merging.commitOf("two\nlines")).toBeUndefined();
  });

  test("names are found when the process that looked them up was killed, and no process stays", async () => {
    using world = gitMergeWorld({ idleMs: 1 });
    const { merging } = world;
    const main = world.tip("main");
    const lookers = (): readonly number[] =>
      gitsIn(world.root)
        .filter(({ line }) => line.includes("--batch-check"))
        .map(({ pid }) => pid);
    const asked = Promise.all(Array.from({ length: 50 }, () => merging.commitOf("main")));
    for (const pid of lookers()) process.kill(pid, "SIGKILL");
    expect(new Set(await asked)).toEqual(new Set([main]));
    while (lookers().length > 0) await Bun.sleep(5);
    expect(await merging.commitOf("main")).toBe(main);
  });

  test("a patch shows what changed", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "one\n" } });
    const side = world.branch("side", () => world.write(world.root, "a.txt", "two\n"));
    const patch = await world.merging.patch(world.tip("main"), side);
    expect(patch).toContain("--- a/a.txt");
    expect(patch).toContain("-one\n+two\n");
    expect(await world.merging.patch(side, side)).toBe("");
  });

  test("a graft does not make an ancestor of what is none", async () => {
    using world = gitMergeWorld();
    const main = world.tip("main");
    const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
    world.write(world.root, ".git/info/grafts", `${main} ${side}\n`);
    expect(await world.merging.contains(main, side)).toBe(false);
  });

  test("a shallow clone can be merged in, as far as its history goes", async () => {
    using world = gitMergeWorld();
    world.branch("main", () => world.write(world.root, "second", "2\n"));
    world.branch("side", () => world.write(world.root, "s", "s\n"));
    world.branch("main", () => world.write(world.root, "m", "m\n"));
    using shallow = gitMergeWorld();
    shallow.git(
      shallow.root,
      "fetch",
      "--quiet",
      "--depth=2",
      `file://${world.root}`,
      "main:refs/heads/m",
      "side:refs/heads/s",
    );
    expect(await shallow.merging.merge(shallow.tip("m"), shallow.tip("s"))).toMatchObject({ kind: "clean" });
  });
});

/** The processes of git whose directory this is. */
function gitsIn(root: string): readonly { readonly pid: number; readonly line: string }[] {
  return readdirSync("/proc").flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return readlinkSync(`/proc/${pid}/cwd`) === root && line.includes("git\0") ? [{ pid, line }] : [];
    } catch {
      // It has ended.
      return [];
    }
  });
}

describe("replacing files of a tree", () => {
  test("adds, changes, removes, and makes room where a file was a directory", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "a\n", "dir/in.txt": "i\n", "gone.txt": "g\n", "run.sh": "x\n" } });
    const { merging } = world;
    const text = (words: string): Uint8Array => new TextEncoder().encode(words);
    const tree = await merging.withFiles(await merging.treeOf(world.tip("main")), [
      { path: "a.txt", mode: "100644", content: text("crlf\r\n") },
      { path: "empty", mode: "100644", content: text("") },
      { path: "gone.txt", mode: "100644", content: null },
      { path: "run.sh", mode: "100755", content: text("y\n") },
      { path: "dir", mode: "100644", content: text("a file now\n") },
    ]);
    const listed = world.git(world.root, "ls-tree", "-r", "--format=%(objectmode) %(path)", tree).split("\n");
    expect(listed).toEqual(["100644 a.txt", "100644 dir", "100644 empty", "100755 run.sh"]);
    expect(Buffer.from(await merging.readBlob(world.tip(`${tree}:a.txt`))).toString()).toBe("crlf\r\n");
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
  });

  test("refuses a path that leads into the git directory", async () => {
    using world = gitMergeWorld();
    const tree = await world.merging.treeOf(world.tip("main"));
    const files = [{ path: ".git/hooks/post-commit", mode: "100755", content: new Uint8Array() }];
    await expect(world.merging.withFiles(tree, files)).rejects.toThrow();
  });
});
