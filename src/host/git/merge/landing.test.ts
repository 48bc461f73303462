import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type GitMergeWorld, gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { writeTrust } from "../../trust-file.ts";
import { gitMerging } from "../merging.ts";

describe("moving refs", () => {
  test("all of them move, or none", async () => {
    using world = gitMergeWorld();
    const { merging } = world;
    const main = world.tip("main");
    const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
    world.git(world.root, "branch", "target");
    const backup = { ref: "refs/overstory/backup/1", from: null, to: main };
    const first = [{ ref: "refs/heads/target", from: main, to: side }, backup];
    expect(await merging.updateRefs(first, "landing")).toEqual({ kind: "updated" });
    expect(await merging.refsBelow("refs/overstory/")).toEqual([{ ref: backup.ref, commit: main }]);
    expect(world.git(world.root, "reflog", "show", "target")).toContain("landing");
    const late = [{ ref: "refs/overstory/queue/1", from: null, to: side }, ...first];
    expect(await merging.updateRefs(late, "again")).toMatchObject({ kind: "moved" });
    expect(await merging.commitOf("refs/overstory/queue/1")).toBeUndefined();
    expect(await merging.updateRefs([{ ref: backup.ref, from: main, to: null }], "done")).toEqual({ kind: "updated" });
    expect(await merging.refsBelow("refs/overstory/")).toEqual([]);
    expect(await merging.updateRefs([{ ref: backup.ref, from: main, to: null }], "twice")).toMatchObject({
      kind: "moved",
    });
    expect(await merging.updateRefs([{ ref: backup.ref, from: null, to: null }], "absent")).toEqual({
      kind: "updated",
    });
  });

  test("of many writers at once exactly one wins, and no commit is lost", async () => {
    using world = gitMergeWorld();
    const { merging } = world;
    world.git(world.root, "branch", "target");
    const main = world.tip("main");
    const tree = await merging.treeOf(main);
    const commits = await Promise.all(
      Array.from({ length: 8 }, (_, at) => merging.commit({ tree, parents: [main], message: `writer ${at}` })),
    );
    const updates = await Promise.all(
      commits.map((to) => merging.updateRefs([{ ref: "refs/heads/target", from: main, to }], "race")),
    );
    const winners = commits.filter((_, at) => updates[at]?.kind === "updated");
    expect(winners).toEqual([world.tip("target")]);
  });

  test("a branch that is checked out anywhere is left alone", async () => {
    using world = gitMergeWorld();
    const { merging } = world;
    const main = world.tip("main");
    const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
    const elsewhere = join(world.root, "..", "else where");
    world.git(world.root, "worktree", "add", "--quiet", "-b", "busy", elsewhere, "main");
    expect(await merging.checkoutsOf("main")).toEqual([world.root]);
    expect(await merging.checkoutsOf("busy")).toEqual([elsewhere]);
    expect(await merging.checkoutsOf("side")).toEqual([]);
    for (const branch of ["main", "busy"]) {
      const answer = await merging.updateRefs([{ ref: `refs/heads/${branch}`, from: main, to: side }], "x");
      expect(answer).toEqual({ kind: "moved", problem: expect.stringContaining("is checked out at") });
      expect(world.tip(branch)).toBe(main);
    }
  });

  test("a checkout that is missing still has its branch, unless the branch is ours", async () => {
    using world = gitMergeWorld();
    const { merging, root } = world;
    const main = world.tip("main");
    const side = world.branch("side", () => world.write(root, "s", "s\n"));
    const beside = (name: string): string => join(root, "..", name);
    const [users, moved, ours] = [beside("users"), beside("moved"), beside("ours")];
    world.git(root, "worktree", "add", "--quiet", "-b", "busy", users, "main");
    world.git(root, "worktree", "add", "--quiet", "-b", "overstory/a/t-1", ours, "main");
    renameSync(users, moved);
    rmSync(ours, { recursive: true });
    expect(await merging.checkoutsOf("busy")).toEqual([users]);
    expect(await merging.checkoutsOf("overstory/a/t-1")).toEqual([]);
    const update = await merging.updateRefs([{ ref: "refs/heads/busy", from: main, to: side }], "x");
    expect(update).toMatchObject({ kind: "moved", problem: expect.stringContaining("git worktree repair") });
    const move = await merging.moveCheckout({ checkout: users, from: main, to: side });
    expect(move).toMatchObject({ kind: "failed", problem: expect.stringContaining("git worktree prune") });
    expect(world.git(moved, "status", "--porcelain")).toBe("");
    world.git(moved, "worktree", "repair");
    expect(await merging.checkoutsOf("busy")).toEqual([moved]);
    expect(await merging.moveCheckout({ checkout: moved, from: main, to: side })).toEqual({ kind: "done" });
    expect(world.git(moved, "status", "--porcelain")).toBe("");
  });

  test("a checkout whose git directory lies elsewhere is moved itself, not its git directory", async () => {
    using world = gitMergeWorld();
    const { merging, root } = world;
    const main = world.tip("main");
    const to = world.branch("side", () => world.write(root, "hooks/post-commit", "#!/bin/sh\n"));
    const apart = join(root, "..", "apart.git");
    world.git(root, "init", "--quiet", `--separate-git-dir=${apart}`);
    const before = readdirSync(join(apart, "hooks"));
    expect(await merging.checkoutsOf("main")).toEqual([root]);
    const refused = await merging.updateRefs([{ ref: "refs/heads/main", from: main, to }], "x");
    expect(refused).toMatchObject({ problem: `refs/heads/main is checked out at ${root}` });
    const into = await merging.moveCheckout({ checkout: apart, from: main, to });
    expect(into).toMatchObject({ kind: "failed", problem: expect.stringContaining("is a git directory") });
    expect(world.tip("main")).toBe(main);
    expect(await merging.moveCheckout({ checkout: root, from: main, to })).toEqual({ kind: "done" });
    expect(existsSync(join(root, "hooks", "post-commit"))).toBe(true);
    expect(readdirSync(join(apart, "hooks"))).toEqual(before);
    expect(world.git(root, "status", "--porcelain")).toBe("");
  });

  test("files that git calls bare by mistake are a checkout; without them the repository is bare", async () => {
    using world = gitMergeWorld();
    const { merging, root } = world;
    const main = world.tip("main");
    const to = world.branch("side", () => world.write(root, "s", "s\n"));
    world.git(root, "config", "core.bare", "true");
    expect(await merging.checkoutsOf("main")).toEqual([root]);
    const update = { ref: "refs/heads/main", from: main, to };
    expect(await merging.updateRefs([update], "x")).toMatchObject({
      problem: `refs/heads/main is checked out at ${root}`,
    });
    expect(await merging.moveCheckout({ checkout: root, from: main, to })).toMatchObject({
      kind: "failed",
      problem: expect.stringContaining(`git -C ${root} config core.bare false`),
    });
    world.git(root, "config", "core.bare", "false");
    expect(world.git(root, "status", "--porcelain")).toBe("");
    expect(world.tip("main")).toBe(main);
    for (const name of readdirSync(root)) if (name !== ".git") rmSync(join(root, name), { recursive: true });
    world.git(root, "config", "core.bare", "true");
    expect(await merging.checkoutsOf("main")).toEqual([]);
    expect(await merging.updateRefs([update], "x")).toEqual({ kind: "updated" });
  });

  test("from a linked worktree the main checkout is where core.worktree says, as in a submodule", async () => {
    using world = gitMergeWorld();
    const { root } = world;
    const base = join(root, "..");
    const [apart, linked] = [join(base, "apart.git"), join(base, "linked")];
    world.git(root, "init", "--quiet", `--separate-git-dir=${apart}`);
    world.git(root, "worktree", "add", "--quiet", "-b", "side", linked);
    const fromLinked = gitMerging(linked, { poolDir: join(base, "pool-2"), scratch: join(base, "scratch-2") });
    // Nobody knows the place: it is still checked out, and nothing may be written there.
    expect(await fromLinked.checkoutsOf("main")).toEqual([apart]);
    world.git(root, "config", "core.worktree", "../repo");
    expect(await fromLinked.checkoutsOf("main")).toEqual([root]);
    expect(await fromLinked.checkoutsOf("side")).toEqual([linked]);
  });

  test("a branch in the middle of a rebase or a bisection is left alone, as git leaves it", async () => {
    using world = gitMergeWorld();
    const { merging, root } = world;
    const first = world.tip("main");
    const side = world.branch("side", () => world.write(root, "f", "side\n"));
    world.write(root, "f", "main\n");
    world.git(root, "add", "-A");
    world.git(root, "commit", "--quiet", "-m", "ours");
    const main = world.tip("main");
    const change = { ref: "refs/heads/main", from: main, to: side };
    const isHeld = async (what: string): Promise<void> => {
      expect(await merging.checkoutsOf("main")).toEqual([root]);
      expect(await merging.updateRefs([change], "x")).toMatchObject({ kind: "moved" });
      const moved = await merging.moveCheckout({ checkout: root, from: main, to: side });
      expect(moved).toMatchObject({ kind: "failed", problem: expect.stringContaining(`an unfinished ${what}`) });
      expect(world.tip("main")).toBe(main);
    };
    expect(() => world.git(root, "rebase", "--quiet", "side")).toThrow();
    await isHeld("rebase");
    world.git(root, "rebase", "--abort");
    world.git(root, "bisect", "start", "main", first);
    world.git(root, "checkout", "--quiet", "--detach", first);
    await isHeld("bisection");
    world.git(root, "bisect", "reset");
    expect(world.git(root, "symbolic-ref", "HEAD").trim()).toBe("refs/heads/main");
  });

  test("a ref that stands for another one is not moved through", async () => {
    using world = gitMergeWorld();
    const main = world.tip("main");
    const side = world.branch("side", () => world.write(world.root, "s", "s\n"));
    world.git(world.root, "symbolic-ref", "refs/heads/alias", "refs/heads/main");
    const change = { ref: "refs/heads/alias", from: main, to: side };
    expect(await world.merging.updateRefs([change], "x")).toMatchObject({ kind: "locked" });
    expect(world.tip("main")).toBe(main);
  });

  test("an object that is not there is an error, not a race", async () => {
    using world = gitMergeWorld();
    const change = { ref: "refs/overstory/x", from: null, to: "f".repeat(40) };
    await expect(world.merging.updateRefs([change], "x")).rejects.toThrow("moving refs");
  });
});

/** Every file of a checkout with its bytes, and what git says about it. */
function everything(world: GitMergeWorld): unknown {
  const files = readdirSync(world.root, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.parentPath.includes("/.git") && entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path, "latin1")]);
  const status = ["status", "--porcelain=v2", "--branch", "--ignored"];
  return [
    files.toSorted(),
    world.git(world.root, ...status),
    world.git(world.root, "diff", "--cached"),
    world.git(world.root, "show-ref"),
  ];
}

const files = { "a.txt": "a\n", "b.txt": "b\n", "dir/c.txt": "c\n", ".gitignore": "*.log\n.env\n" };

describe("moving the user's checkout forward", () => {
  test("keeps what is uncommitted, staged, untracked or ignored and unrelated", async () => {
    using world = gitMergeWorld({ files });
    const from = world.tip("main");
    const to = world.branch("next", () => {
      world.write(world.root, "a.txt", "new a\n");
      world.write(world.root, "added.txt", "added\n");
      rmSync(join(world.root, "dir/c.txt"));
    });
    world.write(world.root, "b.txt", "dirty b\n");
    world.write(world.root, "staged.txt", "staged\n");
    world.git(world.root, "add", "staged.txt");
    world.write(world.root, "untracked.txt", "u\n");
    world.write(world.root, ".env", "secret\n");
    expect(await world.merging.isClean(world.root)).toBe(false);
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({ kind: "done" });
    expect(world.tip("main")).toBe(to);
    expect(world.read(world.root, "a.txt")).toBe("new a\n");
    expect(world.read(world.root, "b.txt")).toBe("dirty b\n");
    expect(world.read(world.root, ".env")).toBe("secret\n");
    const status = world.git(world.root, "status", "--porcelain").split("\n");
    expect(status.map((line) => line.trim()).toSorted()).toEqual(["?? untracked.txt", "A  staged.txt", "M b.txt"]);
    expect(existsSync(join(world.root, "dir/c.txt"))).toBe(false);
  });

  const changes: readonly {
    readonly what: string;
    readonly paths: readonly string[];
    readonly make: (world: GitMergeWorld) => void;
  }[] = [
    { what: "a changed file", paths: ["a.txt"], make: (world) => world.write(world.root, "a.txt", "mine\n") },
    {
      what: "a staged file",
      paths: ["a.txt"],
      make: (world) => {
        world.write(world.root, "a.txt", "mine\n");
        world.git(world.root, "add", "a.txt");
      },
    },
    {
      what: "an untracked file",
      paths: ["added\n.txt"],
      make: (world) => world.write(world.root, "added\n.txt", "mine\n"),
    },
    { what: "an ignored file", paths: [".env"], make: (world) => world.write(world.root, ".env", "secret\n") },
    {
      what: "an untracked file where a directory comes",
      paths: ["new"],
      make: (world) => world.write(world.root, "new", "mine\n"),
    },
    {
      what: "an ignored file in a directory where a file comes",
      paths: ["dir/x.log"],
      make: (world) => world.write(world.root, "dir/x.log", "mine\n"),
    },
    {
      what: "a link to nowhere",
      paths: [".env"],
      make: (world) => symlinkSync(join(world.root, "..", "nowhere"), join(world.root, ".env")),
    },
  ];

  for (const { what, paths, make } of changes) {
    test(`${what} in the way is named, and nothing changes`, async () => {
      using world = gitMergeWorld({ files });
      const from = world.tip("main");
      const to = world.branch("next", () => {
        world.write(world.root, "a.txt", "new a\n");
        world.write(world.root, "added\n.txt", "added\n");
        world.write(world.root, "new/file.txt", "n\n");
        rmSync(join(world.root, "dir"), { recursive: true });
        world.write(world.root, "dir", "a file now\n");
        world.write(world.root, ".env", "tracked\n");
        world.git(world.root, "add", "--force", ".env");
      });
      make(world);
      const before = everything(world);
      expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({
        kind: "local-changes",
        paths,
      });
      expect(everything(world)).toEqual(before);
      expect(existsSync(join(world.root, ".git", "index.lock"))).toBe(false);
    });
  }

  test("all that is in the way is named at once: changed and new files, and a file in the place of a directory", async () => {
    using world = gitMergeWorld({ files });
    const from = world.tip("main");
    const to = world.branch("next", () => {
      world.write(world.root, "a.txt", "new a\n");
      world.write(world.root, "one.txt", "1\n");
      world.write(world.root, "two.txt", "2\n");
      world.write(world.root, "new/file.txt", "n\n");
    });
    for (const path of ["a.txt", "one.txt", "two.txt", "new"]) world.write(world.root, path, "mine\n");
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({
      kind: "local-changes",
      paths: ["a.txt", "new", "one.txt", "two.txt"],
    });
  });

  test("a directory all of whose files are tracked gives way to a file", async () => {
    using world = gitMergeWorld({ files });
    const to = world.branch("next", () => {
      rmSync(join(world.root, "dir"), { recursive: true });
      world.write(world.root, "dir", "a file now\n");
    });
    expect(await world.merging.moveCheckout({ checkout: world.root, from: world.tip("main"), to })).toEqual({
      kind: "done",
    });
    expect(world.read(world.root, "dir")).toBe("a file now\n");
  });

  test("a branch that moved, a detached checkout and an unfinished merge are left alone", async () => {
    using world = gitMergeWorld({ files });
    const from = world.tip("main");
    const to = world.branch("next", () => world.write(world.root, "a.txt", "new\n"));
    const other = world.branch("other", () => world.write(world.root, "a.txt", "other\n"));
    world.branch("main", () => world.write(world.root, "human.txt", "h\n"));
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toMatchObject({ kind: "moved" });
    world.git(world.root, "checkout", "--quiet", "--detach", from);
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toMatchObject({ kind: "moved" });
    world.git(world.root, "checkout", "--quiet", "-B", "third", to);
    expect(() => world.git(world.root, "merge", other)).toThrow();
    const before = everything(world);
    const answer = await world.merging.moveCheckout({ checkout: world.root, from: to, to: from });
    expect(answer).toEqual({ kind: "failed", problem: expect.stringContaining("MERGE_HEAD") });
    expect(everything(world)).toEqual(before);
  });

  test("filters that were confirmed run, so that files come out as the user has them; hooks do not", async () => {
    using world = gitMergeWorld({ files: { ".gitattributes": "*.up filter=up\n" } });
    world.git(world.root, "config", "filter.up.smudge", "tr a-z A-Z");
    world.git(world.root, "config", "filter.up.clean", "tr A-Z a-z");
    const to = world.branch("next", () => world.write(world.root, "x.up", "HELLO\n"));
    const refused = await world.merging.moveCheckout({ checkout: world.root, from: world.tip("main"), to });
    expect(refused).toMatchObject({ kind: "failed", problem: expect.stringContaining("ov trust add up") });
    const up = { clean: "tr A-Z a-z", smudge: "tr a-z A-Z", process: null, required: null };
    writeTrust(world.trust, { filters: { up }, hooks: {} });
    world.write(world.root, ".git/hooks/post-merge", `#!/bin/sh\n'${world.trap}' < /dev/null\n`);
    chmodSync(join(world.root, ".git/hooks/post-merge"), 0o755);
    expect(await world.merging.moveCheckout({ checkout: world.root, from: world.tip("main"), to })).toEqual({
      kind: "done",
    });
    expect(world.read(world.root, "x.up")).toBe("HELLO\n");
    expect(await world.merging.isClean(world.root)).toBe(true);
    expect(world.sprung()).toBe(false);
  });
});

describe("moving the user's checkout back", () => {
  test("keeps what is uncommitted and unrelated, also a staged version that differs from the file", async () => {
    using world = gitMergeWorld({ files });
    const before = world.tip("main");
    const after = world.branch("main", () => {
      world.write(world.root, "a.txt", "landed\n");
      world.write(world.root, "landed.txt", "landed\n");
    });
    world.write(world.root, "b.txt", "staged b\n");
    world.git(world.root, "add", "b.txt");
    world.write(world.root, "b.txt", "dirty b\n");
    world.write(world.root, "untracked.txt", "u\n");
    expect(await world.merging.moveCheckout({ checkout: world.root, from: after, to: before })).toEqual({
      kind: "done",
    });
    expect(world.tip("main")).toBe(before);
    expect(world.git(world.root, "symbolic-ref", "HEAD")).toBe("refs/heads/main");
    expect(world.read(world.root, "a.txt")).toBe("a\n");
    expect(existsSync(join(world.root, "landed.txt"))).toBe(false);
    expect(world.git(world.root, "show", ":b.txt")).toBe("staged b");
    expect(world.read(world.root, "b.txt")).toBe("dirty b\n");
    expect(world.git(world.root, "status", "--porcelain").split("\n")).toEqual(["MM b.txt", "?? untracked.txt"]);
  });

  test("a file that was only touched is no local change", async () => {
    using world = gitMergeWorld({ files });
    const before = world.tip("main");
    const after = world.branch("main", () => world.write(world.root, "a.txt", "landed\n"));
    world.write(world.root, "a.txt", "landed\n");
    mkdirSync(join(world.root, "emptydir"));
    expect(await world.merging.moveCheckout({ checkout: world.root, from: after, to: before })).toEqual({
      kind: "done",
    });
    expect(await world.merging.isClean(world.root)).toBe(true);
  });

  test("does not take a newer commit of the user with it", async () => {
    using world = gitMergeWorld({ files });
    const before = world.tip("main");
    const after = world.branch("main", () => world.write(world.root, "a.txt", "landed\n"));
    const newer = world.branch("main", () => world.write(world.root, "mine.txt", "m\n"));
    expect(await world.merging.moveCheckout({ checkout: world.root, from: after, to: before })).toMatchObject({
      kind: "moved",
    });
    expect(world.tip("main")).toBe(newer);
  });
});
