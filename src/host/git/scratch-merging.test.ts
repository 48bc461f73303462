import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitMergeWorld } from "../../../testkit/git-merge-world.ts";
import { scratchMerging } from "./scratch-merging.ts";

test("what is merged in passing is in no object database afterwards, and merges build upon each other", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
  const one = world.branch("one", () => writeFileSync(join(world.root, "one.txt"), "1\n"));
  const two = world.branch("two", () => writeFileSync(join(world.root, "two.txt"), "2\n"));
  const main = world.tip("main");
  const objects = (): string => world.git(world.root, "count-objects", "-v");
  const before = objects();
  let tip: string;
  {
    using git = await scratchMerging(world.root);
    const first = await git.merge(main, one);
    if (first.kind !== "clean") throw new Error(first.kind);
    const onto = await git.commit({ tree: first.tree, parents: [main, one], message: "first" });
    const second = await git.merge(onto, two);
    if (second.kind !== "clean") throw new Error(second.kind);
    const file = { path: "new.txt", mode: "100644", content: new TextEncoder().encode("new\n") };
    const tree = await git.withFiles(second.tree, [file]);
    tip = await git.commit({ tree, parents: [onto, two], message: "second" });
    expect(await git.changedFiles(main, tip)).toEqual(["new.txt", "one.txt", "two.txt"]);
    expect(await git.contains(tip, one)).toBe(true);
    expect(await git.baseOf(one, two)).toBe(main);
  }
  expect(() => world.git(world.root, "cat-file", "-e", tip)).toThrow();
  expect(objects()).toBe(before);
});
