import { describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { conflictsOf, type GitMergeWorld, gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { plantPrograms } from "../../../../testkit/planted-programs.ts";

const attributes = "* filter=x diff=x merge=x\n";

describe("nothing an agent can configure is run by merging", () => {
  test("planted configuration of the project: every way to merge, to look and to check out", async () => {
    using world = gitMergeWorld({ files: { "a.x": "a\n", ".gitattributes": attributes } });
    const ours = world.branch("ours", () => world.write(world.root, "a.x", "ours\n"));
    const theirs = world.branch("theirs", () => world.write(world.root, "a.x", "theirs\n"));
    const main = world.tip("main");
    world.git(world.root, "branch", "target");
    plant(world);
    const { merging } = world;
    const merge = await merging.merge(ours, theirs);
    expect(conflictsOf(merge)).toMatchObject([{ path: "a.x", kind: "content" }]);
    await merging.mergePairs([{ ours, theirs }]);
    await merging.revert(ours, ours);
    await merging.isUnion(ours, "a.x");
    await merging.changedFiles(ours, theirs);
    expect(await merging.patch(ours, theirs)).toContain("-ours\n+theirs\n");
    await merging.subjectOf(ours);
    const content = new TextEncoder().encode("both\n");
    const tree = await merging.withFiles(await merging.treeOf(ours), [{ path: "a.x", mode: "100644", content }]);
    const commit = await merging.commit({ tree, parents: [ours, theirs], message: "m" });
    const changes = [{ ref: "refs/heads/target", from: main, to: commit }];
    expect(await merging.updateRefs(changes, "landing")).toEqual({ kind: "updated" });
    await expect(merging.checkOut(0, commit)).rejects.toThrow('the filter "x"');
    await merging.checkoutsOf("target");
    expect(world.sprung()).toBe(false);
  });

  test("planted configuration of the project: a filter that no file needs", async () => {
    using world = gitMergeWorld({ files: { "a.x": "a\n", ".gitattributes": "* diff=x merge=x\n" } });
    const main = world.tip("main");
    const other = world.branch("other", () => world.write(world.root, "a.x", "other\n"));
    plant(world);
    for (const candidate of [other, main, other]) {
      const { path } = await world.merging.checkOut(0, candidate);
      world.write(path, "a.x", "changed by a gate\n");
    }
    expect(world.sprung()).toBe(false);
  });

  test("the trap does spring for a git that is not careful", () => {
    using world = gitMergeWorld({ files: { "a.x": "a\n", ".gitattributes": attributes } });
    const ours = world.branch("ours", () => world.write(world.root, "a.x", "ours\n"));
    const theirs = world.branch("theirs", () => world.write(world.root, "a.x", "theirs\n"));
    plant(world);
    world.git(world.root, "merge-tree", "--write-tree", ours, theirs);
    expect(world.sprung()).toBe(true);
  });

  test("an attribute file whose path leads out of its place is not written there", async () => {
    using world = gitMergeWorld({ files: { "a.txt": "a\n" } });
    const blob = Bun.spawnSync({
      cmd: ["git", "hash-object", "-w", "--stdin"],
      cwd: world.root,
      stdin: Buffer.from("* merge=union\n"),
    });
    const entry = (mode: string, type: string, oid: string, name: string): string =>
      `${mode} ${type} ${oid}\t${name}\n`;
    const mktree = (text: string): string =>
      Bun.spawnSync({ cmd: ["git", "mktree"], cwd: world.root, stdin: Buffer.from(text) })
        .stdout.toString()
        .trim();
    const inner = mktree(entry("100644", "blob", blob.stdout.toString().trim(), ".gitattributes"));
    const file = world.tip("main:a.txt");
    const outer = mktree(entry("040000", "tree", inner, "..") + entry("100644", "blob", file, "a.txt"));
    const evil = await world.merging.commit({ tree: outer, parents: [world.tip("main")], message: "evil" });
    expect(await world.merging.isUnion(evil, "a.txt")).toBe(false);
    expect(existsSync(join(world.scratch, ".gitattributes"))).toBe(false);
  });
});

/** Commits stay unsigned: this machine has no key of the user. */
function plant(world: GitMergeWorld): void {
  const gitDir = join(world.root, ".git");
  plantPrograms(world, gitDir);
  writeFileSync(join(gitDir, "config"), "[commit]\n\tgpgSign = false\n", { flag: "a" });
}
