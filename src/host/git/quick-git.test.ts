import { expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld } from "../../../testkit/git-merge-world.ts";
import { quickGit } from "./quick-git.ts";

const branchTip = (root: string, branch: string) => quickGit(root).tipOf(branch);

test("the tip of a branch is what git says, for loose and for packed branches, in every worktree", () => {
  using world = gitMergeWorld();
  const { root, git } = world;
  const side = world.branch("overstory/a.b/t-1", () => world.write(root, "s", "s\n"));
  git(root, "branch", "deep/er", "main");
  git(root, "worktree", "add", "--quiet", join(root, "..", "linked"), "deep/er");
  for (const at of [root, join(root, "..", "linked")]) {
    expect(branchTip(at, "main")).toBe(world.tip("main"));
    expect(branchTip(at, "overstory/a.b/t-1")).toBe(side);
  }
  git(root, "pack-refs", "--all");
  expect(branchTip(root, "overstory/a.b/t-1")).toBe(side);
  git(root, "branch", "--force", "overstory/a.b/t-1", "main");
  expect(branchTip(root, "overstory/a.b/t-1")).toBe(world.tip("main"));
});

test("the tip is left to git for everything that is not a plain branch in a plain file", () => {
  using world = gitMergeWorld();
  const { root, git } = world;
  const heads = join(root, ".git", "refs", "heads");
  git(root, "branch", "team/one", "main");
  git(root, "symbolic-ref", "refs/heads/alias", "refs/heads/main");
  git(root, "tag", "v1");
  writeFileSync(join(heads, "broken"), "nonsense\n");
  symlinkSync("main", join(heads, "link"));
  for (const name of ["gone", "team", "v1", "HEAD"]) expect([name, branchTip(root, name)]).toEqual([name, null]);
  const names = ["alias", "broken", "link", "main^", "../tags/v1", "", "-x", "main.lock", "x".repeat(300)];
  for (const name of names) expect([name, branchTip(root, name)]).toEqual([name, undefined]);
  expect(branchTip(join(root, ".."), "main")).toBeUndefined();
});

test("changed files are those that git names on what work lands on now, and are left to git where it is not plain", async () => {
  using world = gitMergeWorld({ files: { "a.txt": "a\n", "b.txt": "b\n" } });
  const { root, git, merging } = world;
  const write = (path: string) => () => world.write(root, path, `${path}\n`);
  const landing = "overstory/integration/main";
  const first = world.tip("main");
  const side = world.branch("side", () => git(root, "mv", "a.txt", "c.txt"));
  world.branch("main", write("b.txt"));
  const quick = (head: string) => quickGit(root).changedFiles("main", head);
  // The target is checked out, and nothing has landed beside it.
  expect(await quick(side)).toEqual(["a.txt", "c.txt"]);
  const onSide = world.branch("on-side", write("d.txt"), "side");
  // What is on the landing branch is not brought again.
  git(root, "branch", landing, side);
  expect(await quick(onSide)).toEqual(["d.txt"]);
  // A landing branch that holds nothing more does not count.
  git(root, "branch", "--force", landing, first);
  expect(await quick(onSide)).toEqual(await merging.changedFiles("main", onSide));
  git(root, "checkout", "--quiet", "--detach");
  git(root, "branch", "--force", landing, side);
  expect(await quick(onSide)).toEqual(["a.txt", "c.txt", "d.txt"]);
  git(root, "checkout", "--quiet", "--orphan", "lone");
  git(root, "commit", "--quiet", "-m", "lone");
  expect(await quick(world.tip("HEAD"))).toBeUndefined();
  expect(await quickGit(root).changedFiles("gone", side)).toBeUndefined();
});

test("files are plain until anything in the repository could have a say in how they look", () => {
  const after = (change: (world: GitMergeWorld) => void): boolean => {
    using world = gitMergeWorld({ files: { "a.txt": "a\n", "deep/er/b.txt": "b\n" } });
    change(world);
    return quickGit(world.root).hasPlainFiles();
  };
  expect(after(() => {})).toBe(true);
  const track = (path: string) => (world: GitMergeWorld) => {
    world.write(world.root, path, "*.bin filter=lfs\n");
    world.git(world.root, "add", path);
  };
  const set = (key: string, value: string) => (world: GitMergeWorld) => world.git(world.root, "config", key, value);
  const changes: readonly ((world: GitMergeWorld) => void)[] = [
    track(".gitattributes"),
    track("deep/er/.gitattributes"),
    (world) => {
      track("deep/er/.gitattributes")(world);
      world.git(world.root, "update-index", "--index-version", "4");
    },
    (world) => world.git(world.root, "update-index", "--split-index"),
    (world) => world.write(world.root, ".git/info/attributes", "* text\n"),
    (world) => world.hook("pre-merge-commit", "true"),
    ...["core.autocrlf", "core.eol", "filter.x.clean", "core.attributesFile", "include.path"].map((key) =>
      set(key, "x"),
    ),
  ];
  for (const [at, change] of changes.entries()) expect([at, after(change)]).toEqual([at, false]);
});
