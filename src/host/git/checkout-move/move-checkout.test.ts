import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { everything, files, type Prepared, prepared } from "../../../../testkit/checkout-to-move.ts";
import { type GitMergeWorld, gitMergeWorld } from "../../../../testkit/git-merge-world.ts";
import { type KillPoint, killPoints } from "../../../ports/kill-points.ts";
import { writeTrust } from "../../trust-file.ts";

const statusLines = ({ root, git }: GitMergeWorld): readonly string[] =>
  git(root, "status", "--porcelain")
    .split("\n")
    .map((line) => line.trim())
    .toSorted();

const leftovers = ({ root, scratch }: GitMergeWorld): readonly string[] => [
  ...["index.lock", "HEAD.lock", "index.overstory", "ov-moves"].filter((name) => existsSync(join(root, ".git", name))),
  ...(existsSync(join(scratch, "moves")) ? readdirSync(join(scratch, "moves")) : []),
];

/** What the move looks like when nothing disturbs it. */
async function undisturbed(): Promise<unknown> {
  using world = prepared().world;
  const { from, to } = { from: world.tip("main"), to: world.tip("next") };
  expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({ kind: "done" });
  return relative(world);
}

const relative = (world: GitMergeWorld): unknown =>
  JSON.parse(
    JSON.stringify(everything(world))
      .replaceAll(world.root, "ROOT")
      .replaceAll(/\b[0-9a-f]{40}\b/g, "ID"),
  );

async function dieAt({ world, from, to }: Prepared, point: KillPoint, nth = 1): Promise<void> {
  const script = join(import.meta.dir, "../../../../testkit/move-and-die.ts");
  const child = Bun.spawn([process.execPath, script, world.root, world.scratch, from, to, point, String(nth)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await child.exited;
  expect([point, child.signalCode]).toEqual([point, "SIGKILL"]);
}

describe("a move whose maker is killed", () => {
  const points = killPoints.filter((point) => point.startsWith("promote.") && !point.endsWith("-back"));
  for (const point of points) {
    test(`at ${point} is finished by the next look`, async () => {
      const want = await undisturbed();
      const ready = prepared();
      using world = ready.world;
      await dieAt(ready, point);
      await world.merging.finishMoves();
      const { from, to } = ready;
      if (world.tip("main") === from) await world.merging.moveCheckout({ checkout: world.root, from, to });
      expect(relative(world)).toEqual(want);
      expect(statusLines(world)).toEqual(["?? untracked.txt", "A  staged.txt", "M mine.txt"]);
      expect(leftovers(world)).toEqual([]);
    });
  }

  test("between any two files is finished by the next look", async () => {
    const want = await undisturbed();
    for (let nth = 1; nth <= 6; nth++) {
      const ready = prepared();
      using world = ready.world;
      await dieAt(ready, "promote.between-files", nth);
      expect((await world.merging.finishMoves()).map(({ outcome }) => outcome)).toEqual([{ kind: "done" }]);
      expect(relative(world)).toEqual(want);
    }
  });

  test("is taken back when its user has written to a file that it had not reached", async () => {
    for (const point of ["promote.after-branch", "promote.between-files"] as const) {
      const ready = prepared();
      using world = ready.world;
      const before = everything(world);
      await dieAt(ready, point);
      world.write(world.root, "run.sh", "my own\n");
      expect((await world.merging.finishMoves()).map(({ outcome }) => outcome)).toEqual([
        { kind: "local-changes", paths: ["run.sh"] },
      ]);
      expect(world.read(world.root, "run.sh")).toBe("my own\n");
      rmSync(join(world.root, "run.sh"));
      expect(everything(world)).toEqual(before);
      expect(leftovers(world)).toEqual([]);
    }
  });

  test("puts an old file beside the one that its user wrote at its path, and over nothing", async () => {
    const ready = prepared();
    using world = ready.world;
    await dieAt(ready, "promote.between-files", 6);
    expect(existsSync(join(world.root, "gone/d.txt"))).toBe(false);
    world.write(world.root, "gone/d.txt", "written since\n");
    world.write(world.root, "gone/d.txt.before-promote", "of another time\n");
    world.write(world.root, "run.sh", "my own\n");
    expect((await world.merging.finishMoves()).map(({ outcome }) => outcome.kind)).toEqual(["local-changes"]);
    const kept = ["gone/d.txt", "gone/d.txt.before-promote", "gone/d.txt.before-promote.1"];
    expect(kept.map((path) => world.read(world.root, path))).toEqual(["written since\n", "of another time\n", "d\n"]);
    expect(leftovers(world)).toEqual([]);
  });

  test("while it is taken back goes on being taken back", async () => {
    for (const [point, nth] of [
      ["promote.before-back", 1],
      ["promote.during-back", 1],
      ["promote.during-back", 7],
    ] as const) {
      const ready = prepared();
      using world = ready.world;
      const before = everything(world);
      await dieAt(ready, "promote.between-files", 2);
      world.write(world.root, "run.sh", "my own\n");
      await dieAt(ready, point, nth);
      expect(await world.merging.finishMoves()).toHaveLength(1);
      rmSync(join(world.root, "run.sh"));
      expect(everything(world)).toEqual(before);
      expect(leftovers(world)).toEqual([]);
    }
  });

  test("keeps what its user has written to a file that had its place already", async () => {
    const ready = prepared();
    using world = ready.world;
    await dieAt(ready, "promote.after-files");
    world.write(world.root, "a.txt", "new a, and mine\n");
    expect((await world.merging.finishMoves())[0]?.outcome).toEqual({ kind: "done" });
    expect(world.read(world.root, "a.txt")).toBe("new a, and mine\n");
    expect(world.git(world.root, "status", "--porcelain")).toContain("M a.txt");
  });

  test("whose lock the user has taken away keeps what they staged since", async () => {
    const ready = prepared();
    using world = ready.world;
    await dieAt(ready, "promote.after-files");
    rmSync(join(world.root, ".git/index.lock"));
    world.write(world.root, "later.txt", "later\n");
    world.git(world.root, "add", "later.txt");
    expect((await world.merging.finishMoves())[0]?.outcome).toEqual({ kind: "done" });
    expect(statusLines(world)).toEqual(["?? untracked.txt", "A  later.txt", "A  staged.txt", "M mine.txt"]);
  });
});

test("a file that is written to between the verification and its turn is not overwritten, and all goes back", async () => {
  const { world, from, to } = prepared();
  using _ = world;
  const before = everything(world);
  const moved = await world.merging.moveCheckout({
    checkout: world.root,
    from,
    to,
    reach: (point) => {
      if (point === "promote.after-branch") world.write(world.root, "a.txt", "written just now\n");
    },
  });
  expect(moved).toEqual({ kind: "local-changes", paths: ["a.txt"] });
  expect(world.read(world.root, "a.txt")).toBe("written just now\n");
  world.write(world.root, "a.txt", "a\n");
  world.git(world.root, "update-index", "-q", "--refresh");
  expect(everything(world)).toEqual(before);
});

describe("locks in the checkout", () => {
  for (const name of ["index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock"]) {
    test(`${name} of a dead process is removed, and the caller hears of it`, async () => {
      const { world, from, to } = prepared();
      using _ = world;
      const path = join(world.root, ".git", name);
      writeFileSync(path, "");
      const old = Date.now() / 1000 - 60;
      utimesSync(path, old, old);
      const removed: string[] = [];
      const onLockRemoved = (lock: string) => void removed.push(lock);
      const moved = await world.merging.moveCheckout({ checkout: world.root, from, to, onLockRemoved });
      expect(moved).toEqual({ kind: "done" });
      expect(removed).toEqual([path]);
      expect(world.tip("main")).toBe(to);
      expect(existsSync(path)).toBe(false);
    });
  }

  for (const name of ["index.lock", "HEAD.lock"]) {
    test(`${name} of a living process is named, and everything is as it was`, async () => {
      const { world, from, to } = prepared();
      using _ = world;
      const before = everything(world);
      const path = join(world.root, ".git", name);
      await using holder = holding(path);
      const moved = await world.merging.moveCheckout({ checkout: world.root, from, to });
      const problem = `${path} is held by "sleep 600" (process ${holder.pid}), which still runs; wait until it has ended, or end it`;
      expect(moved).toEqual({ kind: "locked", problem });
      await holder[Symbol.asyncDispose]();
      rmSync(path);
      expect(everything(world)).toEqual(before);
      expect(leftovers(world)).toEqual([]);
      expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({ kind: "done" });
    }, 60_000);
  }
});

/** A process that has the file open until it is ended. */
function holding(path: string): AsyncDisposable & { readonly pid: number } {
  writeFileSync(path, "");
  const child = Bun.spawn(["sh", "-c", 'exec 3>"$0"; echo; exec sleep 600', path], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  return {
    pid: child.pid,
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

describe("checkouts of a special kind", () => {
  test("a sparse one gets only what it wants, and stays clean", async () => {
    using world = gitMergeWorld({ files: { "in/a.txt": "a\n", "out/b.txt": "b\n", "top.txt": "t\n" } });
    const from = world.tip("main");
    const to = world.branch("next", () => {
      for (const name of ["in/a.txt", "in/new.txt", "out/b.txt", "out/new.txt"])
        world.write(world.root, name, `${name} 2\n`);
    });
    world.git(world.root, "sparse-checkout", "set", "in");
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({ kind: "done" });
    expect([world.read(world.root, "in/a.txt"), existsSync(join(world.root, "out"))]).toEqual(["in/a.txt 2\n", false]);
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
    world.git(world.root, "sparse-checkout", "disable");
    expect(world.read(world.root, "out/new.txt")).toBe("out/new.txt 2\n");
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
  });

  test("a checkout with a pipe in place of the sparse patterns is moved without waiting for the pipe", async () => {
    using world = gitMergeWorld({ files });
    const from = world.tip("main");
    const to = world.branch("next", () => world.write(world.root, "a.txt", "new a\n"));
    Bun.spawnSync(["mkfifo", join(world.root, ".git/info/sparse-checkout")]);
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({ kind: "done" });
    expect(world.read(world.root, "a.txt")).toBe("new a\n");
  });

  for (const mark of ["assume-unchanged", "skip-worktree"] as const) {
    test(`a changed file that is marked ${mark} is in the way all the same`, async () => {
      using world = gitMergeWorld({ files });
      const from = world.tip("main");
      const to = world.branch("next", () => world.write(world.root, "a.txt", "new a\n"));
      world.git(world.root, "update-index", `--${mark}`, "a.txt");
      world.write(world.root, "a.txt", "hidden edit\n");
      const moved = await world.merging.moveCheckout({ checkout: world.root, from, to });
      expect(moved).toEqual({ kind: "local-changes", paths: ["a.txt"], marked: [{ path: "a.txt", mark }] });
      expect([world.read(world.root, "a.txt"), world.tip("main")]).toEqual(["hidden edit\n", from]);
    });
  }

  test("a linked worktree moves as well, with its own index", async () => {
    using world = gitMergeWorld({ files });
    const linked = join(world.root, "..", "linked tree");
    world.git(world.root, "worktree", "add", "--quiet", "-b", "work", linked, "main");
    const to = world.branch("next", () => world.write(world.root, "a.txt", "new a\n"));
    world.write(linked, "b.txt", "dirty\n");
    const moved = await world.merging.moveCheckout({ checkout: linked, from: world.tip("work"), to });
    expect(moved).toEqual({ kind: "done" });
    expect(world.read(linked, "a.txt")).toBe("new a\n");
    expect(world.git(linked, "status", "--porcelain")).toBe("M b.txt");
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
  });

  test("a directory that was replaced by a link is not written through", async () => {
    using world = gitMergeWorld({ files });
    const outside = join(world.root, "..", "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "c.txt"), "c\n");
    const from = world.tip("main");
    const to = world.branch("next", () => world.write(world.root, "dir/c.txt", "new c\n"));
    rmSync(join(world.root, "dir"), { recursive: true });
    symlinkSync(outside, join(world.root, "dir"));
    expect((await world.merging.moveCheckout({ checkout: world.root, from, to })).kind).toBe("local-changes");
    expect([readFileSync(join(outside, "c.txt"), "utf8"), world.tip("main")]).toEqual(["c\n", from]);
  });

  test("pointers of submodules move, their directories are left to the user", async () => {
    using world = gitMergeWorld({ files });
    const one = "1".repeat(40);
    const two = "2".repeat(40);
    const from = world.branch("main", () => {
      world.git(world.root, "update-index", "--add", "--cacheinfo", `160000,${one},lib`);
      mkdirSync(join(world.root, "lib"), { recursive: true });
    });
    const commit = (...entries: string[]): string => {
      world.git(world.root, "checkout", "--quiet", "--detach", "main");
      for (const entry of entries) world.git(world.root, "update-index", "--add", "--cacheinfo", entry);
      world.git(world.root, "commit", "--quiet", "-m", "pointers");
      const made = world.tip("HEAD");
      world.git(world.root, "checkout", "--quiet", "--force", "main");
      return made;
    };
    const to = commit(`160000,${two},lib`, `160000,${one},more`);
    world.write(world.root, "lib/inside.txt", "the user's\n");
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({ kind: "done" });
    expect(world.git(world.root, "ls-files", "-s", "lib", "more")).toContain(two);
    expect(readdirSync(join(world.root, "more"))).toEqual([]);
    expect(world.read(world.root, "lib/inside.txt")).toBe("the user's\n");
  });

  test("a filter that is a script of the project runs there, and new attributes count", async () => {
    using world = gitMergeWorld({ files: { ".gitattributes": "*.up filter=up\n", "t.crlf": "one\n" } });
    world.write(world.root, "up.sh", "#!/bin/sh\ntr a-z A-Z\n");
    chmodSync(join(world.root, "up.sh"), 0o755);
    world.git(world.root, "config", "filter.up.smudge", "./up.sh");
    world.git(world.root, "config", "filter.up.clean", "tr A-Z a-z");
    const up = { clean: "tr A-Z a-z", smudge: "./up.sh", process: null, required: null };
    writeTrust(world.trust, { filters: { up }, hooks: {} });
    world.write(world.root, ".git/info/exclude", "up.sh\n");
    const from = world.tip("main");
    const to = world.branch("next", () => {
      world.write(world.root, "x.up", "HELLO\n");
      world.write(world.root, ".gitattributes", "*.up filter=up\n*.crlf text eol=crlf\n");
      world.write(world.root, "t.crlf", "two\n");
    });
    world.write(world.root, "up.sh", "#!/bin/sh\ntr a-z A-Z\n");
    chmodSync(join(world.root, "up.sh"), 0o755);
    expect(await world.merging.moveCheckout({ checkout: world.root, from, to })).toEqual({ kind: "done" });
    expect([world.read(world.root, "x.up"), world.read(world.root, "t.crlf")]).toEqual(["HELLO\n", "two\r\n"]);
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
  });
});
