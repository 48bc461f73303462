import { describe, expect, test } from "bun:test";
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
    await expect(world.merging.contains(main, "f".repeat(40))).rejects.toThrow();
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

  test("changed files are those since the common ancestor, under both names of a rename", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" } });
    const side = world.branch("side", () => world.git(world.root, "mv", "a.txt", "c.txt"));
    world.branch("main", () => world.write(world.root, "b.txt", "changed\n"));
    expect(await world.merging.changedFiles(world.tip("main"), side)).toEqual(["a.txt", "c.txt"]);
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
