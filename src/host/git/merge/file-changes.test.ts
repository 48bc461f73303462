import { expect, test } from "bun:test";
import { gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { scratchMerging } from "../scratch-merging.ts";

test("changed files are told with their lines, contents and former names, however they are named", async () => {
  const long = "a line that stays\n".repeat(20);
  using world = gitMergeWorld({
    files: {
      "a.txt": "one\ntwo\n",
      "old name.txt": long,
      "gone.txt": "x\n",
      "space.txt": "a b\n",
      "logo.bin": "\0\x01",
    },
  });
  const { root, git } = world;
  const side = world.branch("side", () => {
    world.write(root, "a.txt", "one\n2\nthree\n");
    git(root, "mv", "old name.txt", "new\tname.txt");
    git(root, "rm", "--quiet", "gone.txt");
    world.write(root, "space.txt", "a   b\n");
    world.write(root, "logo.bin", "\0\x02");
    world.write(root, "grün.txt", "neu\n");
  });
  using looking = await scratchMerging(root);
  const main = world.tip("main");
  const told = async (ignoreSpace: boolean) =>
    (await looking.fileChanges(main, side, { ignoreSpace })).map(({ path, oldPath, status, added, removed }) =>
      `${status} ${path} +${added} -${removed} ${oldPath ?? ""}`.trim(),
    );
  const expected = [
    "modified a.txt +2 -1",
    "deleted gone.txt +0 -1",
    "added grün.txt +1 -0",
    "modified logo.bin +null -null",
    "renamed new\tname.txt +0 -0 old name.txt",
    "modified space.txt +1 -1",
  ];
  expect(await told(false)).toEqual(expected);
  expect(await told(true)).toEqual(expected.slice(0, -1));
  const [first] = await looking.fileChanges(main, side);
  expect([first?.oldBlob, first?.newBlob]).toEqual([world.tip("main:a.txt"), world.tip("side:a.txt")]);
  expect(await looking.fileChanges(side, side)).toEqual([]);
  expect(await looking.patch(main, side, ["a.txt"], { context: 0 })).toContain("@@ -2 +2,2 @@");
});
