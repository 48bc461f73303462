import { describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gitWorld, requestFor, worktreeSetting } from "../../../testkit/contracts/worktrees/world.ts";
import { statePath } from "../../../testkit/state.ts";
import { hiddenSibling } from "./places.ts";
import { gitWorktrees } from "./worktrees.ts";

const { seated } = worktreeSetting("linked", (root) => gitWorktrees(root));

describe("what a killed or careless process left behind", () => {
  test("a worktree whose preparation was cut short is made anew", async () => {
    using world = gitWorld();
    const owned = world.worktree("ann", "linked");
    const dead = Bun.spawnSync({ cmd: ["true"] }).pid;
    const reason = `overstory is preparing it (process ${dead})`;
    const options = ["--no-checkout", "--lock", "--reason", reason, "-b", owned.branch];
    world.git(world.root, "worktree", "add", "--quiet", ...options, owned.path, "main");
    world.write(owned.path, "half", "h\n");
    expect(await gitWorktrees(world.root).create(requestFor(owned))).toMatchObject({ ok: true });
    expect(world.git(owned.path, "status", "--porcelain")).toBe("");
    expect(world.git(world.root, "worktree", "list", "--porcelain")).not.toContain("locked");
  });

  test("a clone that was never moved to its place is built anew", async () => {
    using world = gitWorld();
    const owned = world.worktree("ann", "clone");
    world.write(hiddenSibling(owned.path, "preparing"), "half", "h\n");
    expect(await gitWorktrees(world.root).create(requestFor(owned))).toMatchObject({ ok: true });
    expect(existsSync(hiddenSibling(owned.path, "preparing"))).toBe(false);
    expect(world.git(owned.path, "status", "--porcelain")).toBe("");
  });

  test("a directory deleted by hand is made again on its branch", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    scene.commit("kept.txt", "k\n");
    rmSync(owned.path, { recursive: true });
    expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
    expect(world.read(owned.path, "kept.txt")).toBe("k\n");
  });

  test("a worktree whose record and branch are gone is taken up where its last snapshot was", async () => {
    using world = gitWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    const made = await worktrees.create(requestFor(owned));
    const identity = made.ok ? made.value.identity : null;
    world.write(owned.path, "kept.txt", "k\n");
    world.git(owned.path, "add", "-A");
    world.git(owned.path, "commit", "--quiet", "-m", "kept");
    const tip = world.git(owned.path, "rev-parse", "HEAD");
    world.write(owned.path, "draft.txt", "d\n");
    await worktrees.snapshot(owned);
    rmSync(join(world.root, ".git", "worktrees", "ann"), { recursive: true });
    world.git(world.root, "branch", "--quiet", "-D", owned.branch);
    const request = requestFor(owned);
    expect(await worktrees.create(request)).toMatchObject({ ok: false });
    expect(await worktrees.create({ ...request, identity })).toMatchObject({ ok: true });
    expect(world.git(owned.path, "rev-parse", "HEAD")).toBe(tip);
    expect(world.git(owned.path, "status", "--porcelain")).toBe("?? draft.txt");
    expect(world.git(world.root, "worktree", "list", "--porcelain")).toContain(`branch refs/heads/${owned.branch}`);
    expect(await worktrees.ensureLink({ ...owned, identity })).toEqual({ kind: "sound" });
  });

  const standIns: Readonly<Record<string, (path: string) => void>> = {
    "an empty directory": (path) => mkdirSync(path),
    "a directory with files": (path) => {
      mkdirSync(path);
      writeFileSync(join(path, "foreign.txt"), "foreign\n");
    },
    "another repository": (path) => {
      Bun.spawnSync({ cmd: ["git", "init", "--quiet", path] });
      writeFileSync(join(path, "foreign.txt"), "foreign\n");
    },
    "a link": (path) => symlinkSync("/", path),
    "a file": (path) => writeFileSync(path, "foreign\n"),
  };
  for (const kind of ["linked", "clone"] as const) {
    test.each(Object.entries(standIns))(
      `a ${kind} worktree is made afresh where %s stands in its place`,
      async (_, stand) => {
        using world = gitWorld();
        const worktrees = gitWorktrees(world.root);
        const owned = world.worktree("ann", kind);
        const made = await worktrees.create(requestFor(owned));
        const identity = made.ok ? made.value.identity : null;
        world.write(owned.path, "kept.txt", "k\n");
        world.git(owned.path, "add", "-A");
        world.git(owned.path, "commit", "--quiet", "-m", "kept");
        await worktrees.collect({ ...owned, identity });
        rmSync(owned.path, { recursive: true });
        stand(owned.path);
        const request = { ...requestFor(owned), identity };
        await worktrees.intendRestore(request);
        const again = await worktrees.create(request);
        const aside = again.ok ? (again.value.putAside ?? "") : "";
        expect(aside).toContain("Found-at-ann-");
        expect(world.git(owned.path, "status", "--porcelain")).toBe("");
        expect(world.read(owned.path, "kept.txt")).toBe("k\n");
        expect(existsSync(join(owned.path, "foreign.txt"))).toBe(false);
        expect(lstatSync(aside, { throwIfNoEntry: false })).toBeDefined();
        // The engine died before it recorded the new worktree. The next try finds the worktree and moves nothing away.
        const third = await worktrees.create(request);
        expect(third.ok && third.value.putAside).toBeUndefined();
        const seated = again.ok ? again.value.identity : null;
        expect(await worktrees.ensureLink({ ...owned, identity: seated })).toEqual({ kind: "sound" });
      },
    );
  }

  test("what was rescued of an agent whose name ends with a number comes back to it", async () => {
    using world = gitWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("builder-2", "linked");
    const made = await worktrees.create(requestFor(owned));
    world.write(owned.path, "draft.txt", "d\n");
    await worktrees.rescue(owned);
    await worktrees.remove(owned, { deleteBranch: null });
    const request = { ...requestFor(owned), identity: made.ok ? made.value.identity : null };
    await worktrees.intendRestore(request);
    await worktrees.create(request);
    expect(await worktrees.restore(owned)).toMatchObject({ files: ["draft.txt"] });
  });

  test("a worktree that was emptied is made afresh, with what a snapshot kept", async () => {
    using world = gitWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    const made = await worktrees.create(requestFor(owned));
    const identity = made.ok ? made.value.identity : null;
    world.write(owned.path, "draft.txt", "d\n");
    await worktrees.snapshot({ ...owned, identity });
    for (const name of readdirSync(owned.path)) rmSync(join(owned.path, name), { recursive: true });
    expect(await worktrees.ensureLink({ ...owned, identity })).toMatchObject({ kind: "broken" });
    world.write(owned.path, "late.txt", "written by a program that was still at work\n");
    const request = { ...requestFor(owned), identity };
    await worktrees.intendRestore(request);
    const again = await worktrees.create(request);
    const seated = again.ok ? again.value.identity : null;
    expect(await worktrees.restore({ ...owned, identity: seated })).toMatchObject({ files: ["draft.txt"] });
    expect(world.git(owned.path, "status", "--porcelain")).toBe("?? draft.txt");
  });

  test("a directory that no agent ever had is never taken for a worktree", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    rmSync(owned.path, { recursive: true });
    world.write(owned.path, "foreign.txt", "f\n");
    const refused = await worktrees.create(requestFor(owned));
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("not this agent's") } });
    expect(readdirSync(owned.path)).toEqual(["foreign.txt"]);
  });

  test("a branch that is checked out elsewhere is refused, naming the place", async () => {
    using world = gitWorld();
    const owned = world.worktree("ann", "linked");
    const elsewhere = join(world.root, "..", "elsewhere");
    world.git(world.root, "worktree", "add", "--quiet", "-b", owned.branch, elsewhere);
    const refused = await gitWorktrees(world.root).create(requestFor(owned));
    expect(refused).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("elsewhere") } });
  });

  for (const kind of ["linked", "clone"] as const) {
    test(`a ${kind} removal that was cut short after the directory was moved aside is finished`, async () => {
      using world = gitWorld();
      const worktrees = gitWorktrees(world.root);
      const owned = world.worktree("ann", kind);
      await worktrees.create(requestFor(owned));
      Bun.spawnSync({ cmd: ["mv", owned.path, hiddenSibling(owned.path, "removing")] });
      expect(await worktrees.remove(owned, { deleteBranch: owned.baseCommit })).toMatchObject({
        removed: true,
        problem: null,
      });
      expect(readdirSync(join(owned.path, ".."))).toEqual([]);
      expect(world.git(world.root, "worktree", "list", "--porcelain")).not.toContain(owned.path);
      expect(world.git(world.root, "for-each-ref", "refs/heads/overstory", "refs/overstory/pin")).toBe("");
    });
  }

  test("directories of operations that were killed are swept away later, not at once", async () => {
    using world = gitWorld();
    const scratch = statePath(world.root, "run", "git");
    world.write(join(scratch, "view-old"), "x", "");
    world.write(join(scratch, "view-young"), "x", "");
    Bun.spawnSync({ cmd: ["touch", "-d", "2 days ago", join(scratch, "view-old")] });
    await gitWorktrees(world.root).create(requestFor(world.worktree("ann", "linked")));
    expect(readdirSync(scratch)).toEqual(["view-young"]);
  });
});

describe("clones", () => {
  test("what a clone relies on survives pruning, though its base left every branch", async () => {
    using world = gitWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "clone");
    await worktrees.create(requestFor(owned));
    world.git(world.root, "branch", "-D", owned.branch);
    world.write(world.root, "src/a.ts", "rewritten\n");
    world.git(world.root, "commit", "--quiet", "-a", "--amend", "-m", "rewritten");
    world.git(world.root, "reflog", "expire", "--expire=now", "--all");
    world.git(world.root, "gc", "--quiet", "--prune=now");
    world.git(owned.path, "fsck", "--strict");
    expect(world.git(owned.path, "log", "--format=%s")).toBe("first");
  });

  test("a clone's objects are its own: nothing it writes reaches the project before it is collected", async () => {
    using world = gitWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "clone");
    await worktrees.create(requestFor(owned));
    world.write(owned.path, "new.txt", "n\n");
    world.git(owned.path, "add", "-A");
    world.git(owned.path, "commit", "--quiet", "-m", "n");
    const tip = world.git(owned.path, "rev-parse", "HEAD");
    expect(() => world.git(world.root, "cat-file", "-e", tip)).toThrow();
    await worktrees.collect(owned);
    world.git(world.root, "cat-file", "-e", tip);
  });

  test("branches of other names are pinned, and stay when the clone goes", async () => {
    using world = gitWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "clone");
    await worktrees.create(requestFor(owned));
    world.git(owned.path, "checkout", "--quiet", "-b", "idea");
    world.write(owned.path, "idea.txt", "i\n");
    world.git(owned.path, "add", "-A");
    world.git(owned.path, "commit", "--quiet", "-m", "idea");
    const idea = world.git(owned.path, "rev-parse", "HEAD");
    await worktrees.collect(owned);
    await worktrees.remove(owned, { deleteBranch: null });
    expect(world.git(world.root, "for-each-ref", "--format=%(refname)", "refs/overstory/pin")).toBe(
      "refs/overstory/pin/ann/heads/idea",
    );
    expect(world.git(world.root, "rev-parse", "refs/overstory/pin/ann/heads/idea")).toBe(idea);
    expect(() => world.git(world.root, "rev-parse", "--verify", "refs/heads/idea")).toThrow();
  });

  test("a branch the user has checked out is not moved under them", async () => {
    using world = gitWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "clone");
    await worktrees.create(requestFor(owned));
    world.git(world.root, "checkout", "--quiet", owned.branch);
    world.write(owned.path, "new.txt", "n\n");
    world.git(owned.path, "add", "-A");
    world.git(owned.path, "commit", "--quiet", "-m", "n");
    await worktrees.collect(owned);
    expect(world.git(world.root, "status", "--porcelain")).toBe("");
    expect(world.git(world.root, "rev-parse", "HEAD")).toBe(owned.baseCommit ?? "");
    const tip = world.git(owned.path, "rev-parse", "HEAD");
    expect(world.git(world.root, "rev-parse", `refs/overstory/pin/ann/heads/${owned.branch}`)).toBe(tip);
  });
});

describe("unusual repositories and files", () => {
  test("a repository with SHA-256 names works for both kinds", async () => {
    using world = gitWorld({ format: "sha256" });
    const worktrees = gitWorktrees(world.root);
    for (const kind of ["linked", "clone"] as const) {
      const owned = world.worktree(`of-${kind}`, kind);
      expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
      world.write(owned.path, "new.txt", "n\n");
      expect((await worktrees.snapshot(owned))?.commit).toHaveLength(64);
      expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ problem: null });
    }
    world.git(world.root, "fsck", "--strict", "--no-dangling");
  });

  test("names that are not text are kept, and go to the trash, byte for byte", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    const named = (bytes: readonly number[]) => Buffer.concat([Buffer.from(`${owned.path}/`), Buffer.from(bytes)]);
    writeFileSync(named([0x66, 0xff, 0xfe]), "odd\n");
    writeFileSync(named([0xff, 0x2e, 0x6c, 0x6f, 0x67]), "odd and ignored\n");
    const snapshot = await worktrees.snapshot(owned);
    expect(world.git(world.root, "ls-tree", "--name-only", snapshot?.commit ?? "")).toContain('"f\\377\\376"');
    const { trash } = await worktrees.remove(owned, { deleteBranch: null });
    const moved = Buffer.concat([Buffer.from(`${trash}/`), Buffer.from([0xff, 0x2e, 0x6c, 0x6f, 0x67])]);
    expect(readFileSync(moved, "utf8")).toBe("odd and ignored\n");
  });

  test("files copied in by worktree.include arrive, and are stored nowhere", async () => {
    using world = gitWorld();
    world.write(world.root, ".env", "TOKEN=secret\n");
    world.write(world.root, "config/local.json", "{}\n");
    const worktrees = gitWorktrees(world.root, {
      include: [".env", "config/*.json"],
      deployed: [".claude/settings.json"],
    });
    const owned = world.worktree("ann", "linked");
    await worktrees.create(requestFor(owned));
    world.write(owned.path, ".claude/settings.json", "{}\n");
    expect(world.read(owned.path, ".env")).toBe("TOKEN=secret\n");
    expect(world.read(owned.path, "config/local.json")).toBe("{}\n");
    expect(await worktrees.inspect(owned)).toMatchObject({ dirty: false, files: [] });
    expect(await worktrees.snapshot(owned)).toBeUndefined();
    world.write(owned.path, "noise.log", "n\n");
    const { trash } = await worktrees.remove(owned, { deleteBranch: null });
    expect(readdirSync(trash ?? "")).toEqual(["noise.log"]);
  });

  test("a worktree that is made again gets back what no snapshot could hold, also when there is no snapshot", async () => {
    using world = gitWorld();
    world.write(world.root, ".gitignore", "*.log\nbuild/\n");
    world.git(world.root, "add", "-A");
    world.git(world.root, "commit", "--quiet", "-m", "ignore");
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    await worktrees.create(requestFor(owned));
    const odd = Buffer.concat([Buffer.from(`${owned.path}/`), Buffer.from([0xff, 0x2e, 0x6c, 0x6f, 0x67])]);
    writeFileSync(odd, "odd\n");
    world.write(owned.path, "build/out", "built\n");
    world.git(owned.path, "init", "--quiet", "nested");
    world.write(owned.path, "nested/file", "nested\n");
    expect(await worktrees.snapshot(owned)).toBeUndefined();
    const { trash } = await worktrees.remove(owned, { deleteBranch: null });
    await worktrees.intendRestore(requestFor(owned));
    expect(await worktrees.create(requestFor(owned))).toMatchObject({ ok: true });
    expect(await worktrees.restore(owned)).toMatchObject({ ref: null, fromTrash: 3 });
    expect(readFileSync(odd, "utf8")).toBe("odd\n");
    expect(world.read(owned.path, "build/out")).toBe("built\n");
    expect(world.read(owned.path, "nested/file")).toBe("nested\n");
    expect([trash ?? "", `${trash}.work`].filter((path) => existsSync(path))).toEqual([]);
  });

  test("an included file is not copied through a link that leaves the worktree", async () => {
    using world = gitWorld();
    const outside = join(world.root, "..", "outside");
    world.write(outside, "keep", "");
    symlinkSync(outside, join(world.root, "conf"));
    world.git(world.root, "add", "conf");
    world.git(world.root, "commit", "--quiet", "-m", "link");
    world.write(world.root, "conf/.env", "secret\n");
    rmSync(join(outside, ".env"));
    world.git(world.root, "rm", "--quiet", "--cached", "conf");
    rmSync(join(world.root, "conf"));
    world.write(world.root, "conf/.env", "secret\n");
    await gitWorktrees(world.root, { include: ["conf/.env"] }).create(requestFor(world.worktree("ann", "linked")));
    expect(readdirSync(outside)).toEqual(["keep"]);
  });

  test("an included file is not copied through a link that leads nowhere, and the worktree is made", async () => {
    using world = gitWorld();
    const outside = join(world.root, "..", "outside");
    world.write(outside, "keep", "");
    for (const [path, to] of Object.entries({ ".env": join(outside, "made"), conf: join(outside, "missing") })) {
      symlinkSync(to, join(world.root, path));
      world.git(world.root, "add", "--force", path);
    }
    world.git(world.root, "commit", "--quiet", "-m", "links");
    for (const path of [".env", "conf"]) rmSync(join(world.root, path));
    world.write(world.root, ".env", "secret\n");
    world.write(world.root, "conf/.env", "secret\n");
    const worktrees = gitWorktrees(world.root, { include: [".env", "conf/.env"] });
    expect(await worktrees.create(requestFor(world.worktree("ann", "linked")))).toMatchObject({ ok: true });
    expect(readdirSync(outside)).toEqual(["keep"]);
  });

  test("the project's own checkout is a seat, but never inspected as work nor removed", async () => {
    using world = gitWorld();
    const worktrees = gitWorktrees(world.root);
    const owned = { ...world.worktree("ann", "root"), path: world.root };
    const { baseCommit } = owned;
    world.write(world.root, "mine.txt", "m\n");
    const seat = await worktrees.create({ ...requestFor(owned), path: "/elsewhere" });
    expect(seat).toMatchObject({ ok: true, value: { path: world.root, branch: "main", baseCommit: baseCommit ?? "" } });
    expect(await worktrees.inspect(owned)).toMatchObject({ head: baseCommit, dirty: false, files: [] });
    expect(await worktrees.snapshot(owned)).toBeUndefined();
    expect(await worktrees.remove(owned, { deleteBranch: null })).toMatchObject({ removed: false });
    expect(world.read(world.root, "mine.txt")).toBe("m\n");
  });

  test("a change made in the same instant as the index is noticed", async () => {
    using scene = await seated();
    const { world, worktrees, owned } = scene;
    for (let round = 0; round < 20; round++) {
      world.write(owned.path, "src/a.ts", `export const a = ${round % 10};\n`);
      const snapshot = await worktrees.snapshot(owned);
      const stored = snapshot?.commit ?? `HEAD`;
      if (round !== 1)
        expect(world.git(owned.path, "show", `${stored}:src/a.ts`)).toBe(`export const a = ${round % 10};`);
    }
  });

  test("an unchanged worktree of 5,000 files costs no object and little time", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 5000 }, (_, i) => [`d${i % 50}/f${i}.txt`, `${i}\n`.repeat(20)]),
    );
    using world = gitWorld({ files });
    const worktrees = gitWorktrees(world.root);
    const owned = world.worktree("ann", "linked");
    await worktrees.create(requestFor(owned));
    world.write(owned.path, "d1/f1.txt", "changed\n");
    const taken = await worktrees.snapshot(owned);
    expect(taken).toBeDefined();
    const objects = world.git(world.root, "count-objects");
    const started = performance.now();
    expect(await worktrees.snapshot(owned)).toEqual(taken);
    // About 60 ms on an idle machine; tests run on busy ones. A process for each file would take minutes there.
    expect(performance.now() - started).toBeLessThan(20_000);
    expect(world.git(world.root, "count-objects")).toBe(objects);
  }, 180_000);
});
