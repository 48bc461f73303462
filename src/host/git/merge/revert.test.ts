import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { conflictsOf, gitMergeWorld, treeOf } from "../../../../testkit/git-merge-world.ts";

describe("taking back", () => {
  test("a merge on top of later work takes away what it brought, and nothing else", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "a\n", "b.txt": "b\n" } });
    const { merging } = world;
    const base = world.tip("main");
    const good = world.branch("good", () => world.write(world.root, "good.txt", "g\n"));
    const bad = world.branch("bad", () => {
      world.write(world.root, "bad.txt", "b\n");
      world.write(world.root, "a.txt", "broken\n");
    });
    const one = await merging.commit({
      tree: treeOf(await merging.merge(base, bad)),
      parents: [base, bad],
      message: "bad",
    });
    const two = await merging.commit({
      tree: treeOf(await merging.merge(one, good)),
      parents: [one, good],
      message: "good",
    });
    const tree = treeOf(await merging.revert(one, two));
    expect(tree).toBe(treeOf(await merging.merge(base, good)));
    expect(await merging.revert(one, one)).toEqual({ kind: "clean", tree: await merging.treeOf(base) });
  });

  test("an ordinary commit, and the very first one", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
    const first = world.tip("main");
    const second = world.branch("work", () => world.write(world.root, "b.txt", "b\n"));
    expect(await world.merging.revert(second, second)).toEqual({
      kind: "clean",
      tree: await world.merging.treeOf(first),
    });
    const tree = treeOf(await world.merging.revert(first, second));
    expect(world.git(world.root, "ls-tree", "--name-only", tree)).toBe("b.txt");
  });

  test("what was changed again since then is a conflict", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
    const second = world.branch("work", () => world.write(world.root, "a.txt", "b\n"));
    const third = world.branch("work", () => world.write(world.root, "a.txt", "c\n"));
    expect(conflictsOf(await world.merging.revert(second, third))).toMatchObject([{ path: "a.txt", kind: "content" }]);
  });

  test("leaves no trace but the tree", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "a\n" }, idleMs: 10 });
    const second = world.branch("work", () => world.write(world.root, "b.txt", "b\n"));
    const commits = (): string =>
      world.git(world.root, "cat-file", "--batch-all-objects", "--batch-check=%(objecttype)");
    const before = commits()
      .split("\n")
      .filter((type) => type === "commit").length;
    await world.merging.revert(second, second);
    expect(
      commits()
        .split("\n")
        .filter((type) => type === "commit"),
    ).toHaveLength(before);
    const views = (): string[] => readdirSync(world.scratch).filter((name) => name.startsWith("view-"));
    for (let looks = 0; views().length > 0 && looks < 1_000; looks++) await Bun.sleep(20);
    expect(views()).toEqual([]);
  });
});
