import { describe, expect, test } from "bun:test";
import {
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { statePath } from "../testkit/state.ts";
import { initWorld } from "./init.world.ts";

test("several at the same time make one project, complete and committed", async () => {
  using world = await initWorld();
  const answers = await Promise.all([1, 2, 3, 4].map(() => world.ov("init", "--json")));
  expect(answers.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  const made = answers.flatMap(({ out }) => JSON.parse(out).created as string[]);
  expect(made.filter((path) => path === ".overstory/config.yaml")).toHaveLength(1);
  expect(await world.git("log", "--format=%s")).toBe("chore: initialise overstory\n");
  const warned = answers.flatMap(({ out }) => JSON.parse(out).warnings as string[]);
  expect(warned.filter((warning) => warning.startsWith("not committed"))).toEqual([]);
  expect(await world.json("init")).toMatchObject({ created: [] });
});

test("a lock that another git command left is told in words, with everything else done", async () => {
  using world = await initWorld();
  world.write(".git/index.lock", "");
  const { code, out } = await world.ov("init", "--json");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ committed: false, committedOn: null });
  expect(JSON.parse(out).warnings).toContainEqual(expect.stringContaining("another git command is at work"));
  expect(existsSync(join(world.root, ".overstory/config.yaml"))).toBe(true);
});

test("on a detached HEAD it says where the commit went, and a branch gets the same files by another init", async () => {
  using world = await initWorld();
  await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
  await world.git("checkout", "--quiet", "--detach");
  const said = await world.json("init");
  expect(said).toMatchObject({ committed: true, committedOn: null });
  expect(said.warnings).toContainEqual(expect.stringContaining("no branch is checked out"));
  expect((await world.ov("status")).code).toBe(0);
  await world.git("checkout", "--quiet", "main");
  expect(await world.json("init")).toMatchObject({ committed: true, committedOn: "main" });
});

describe("a database that is gone", () => {
  test("is not replaced by an empty one without a word", async () => {
    using world = await initWorld();
    await world.ov("init");
    await world.ov("task", "create", "One", "--id", "T1");
    for (const end of ["", "-wal", "-shm"]) rmSync(statePath(world.root, `overstory.db${end}`), { force: true });
    for (const args of [["status"], ["task", "create", "Two"], ["init"], ["engine", "status"]]) {
      const { code, out } = await world.ov(...args, "--json");
      expect({ args, code, ...JSON.parse(out).details }).toMatchObject({
        args,
        code: 3,
        kind: "store-lost",
        backup: null,
      });
      expect(existsSync(statePath(world.root, "overstory.db"))).toBe(false);
    }
    world.write(".git/ov-state/overstory.db", "");
    expect(JSON.parse((await world.ov("status", "--json")).out).details).toMatchObject({ kind: "store-lost" });
    expect(await world.json("init", "--new-database")).toMatchObject({ success: true });
    expect(await world.json("task", "list")).toMatchObject({ tasks: [] });
  });

  test("is missed also where the record of the project, or all of its state, went with it", async () => {
    using world = await initWorld();
    await world.ov("init");
    await world.ov("task", "create", "One", "--id", "T1");
    rmSync(statePath(world.root, "project.json"));
    expect(await world.json("task", "list")).toMatchObject({ tasks: [{ id: "T1" }] });
    rmSync(statePath(world.root), { recursive: true });
    for (const args of [["status"], ["task", "create", "Two"], ["init"]]) {
      expect(JSON.parse((await world.ov(...args, "--json")).out).details).toMatchObject({ kind: "store-lost" });
    }
    expect(await world.json("init", "--new-database")).toMatchObject({ success: true });
  });

  test("is not missed in a repository that is only a submodule of somebody's project", async () => {
    using world = await initWorld();
    await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
    const refs = ["refs/overstory/sub/b1/HEAD", "refs/overstory/sub/@landed/x"];
    for (const ref of refs) await world.git("update-ref", "--create-reflog", ref, "HEAD");
    expect(await world.json("init")).toMatchObject({ success: true });
    expect(await world.json("task", "list")).toMatchObject({ tasks: [] });
  });

  test("is not missed in a bare clone of a project, which has the branches of its agents", async () => {
    using world = await initWorld();
    await world.json("init");
    await world.git("branch", "overstory/b1/T1");
    await world.git("update-ref", "refs/overstory/snap/b1/1/1", "HEAD");
    const inBase = (name: string): string => join(world.base, name);
    for (const how of ["--bare", "--mirror"]) {
      const [clone, linked] = [inBase(`clone${how}`), join(inBase(`clone${how}`), "main")];
      await world.gitIn(world.base, "clone", "--quiet", how, world.root, clone);
      await world.gitIn(clone, "worktree", "add", "--quiet", linked, "main");
      const beside = await world.ovIn(clone, "init", "--json");
      expect([beside.code, JSON.parse(beside.out).hint]).toEqual([expect.any(Number), expect.stringContaining(linked)]);
      expect(await world.ovIn(linked, "init")).toMatchObject({ code: 0 });
    }
  });

  test.each([
    ["loose", []],
    ["packed", ["pack-refs", "--all"]],
  ])("is missed where %s refs say that agents worked, beside those of a submodule", async (_, pack) => {
    using world = await initWorld();
    await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
    await world.git("update-ref", "refs/overstory/sub/b1/HEAD", "HEAD");
    if (pack.length > 0) await world.git(...pack);
    await world.git("update-ref", "refs/overstory/snap/b1/1/1", "HEAD");
    if (pack.length > 0) await world.git(...pack);
    expect(await world.ov("init")).toMatchObject({ code: 3 });
  });

  test("comes back whole from the backup that the error names", async () => {
    using world = await initWorld();
    await world.ov("init");
    await world.ov("task", "create", "One", "--id", "T1");
    await world.ov("mail", "send", "--to", "operator", "--subject", "s", "--body", "b");
    await world.json("clean", "--mail", "--yes");
    for (const end of ["", "-wal", "-shm"]) rmSync(statePath(world.root, `overstory.db${end}`), { force: true });
    const { hint, details } = JSON.parse((await world.ov("status", "--json")).out);
    expect(hint).toContain(`ov clean --restore ${details.backup}`);
    expect(await world.json("clean", "--restore", details.backup)).toMatchObject({ success: true });
    expect(await world.json("task", "list")).toMatchObject({ tasks: [{ id: "T1" }] });
    expect((await world.ov("mail", "list")).out).toContain("s (status)");
  });
});

test("everything in the state directory is for its owner alone", async () => {
  using world = await initWorld();
  await world.ov("init");
  await world.ov("task", "create", "One", "--id", "T1");
  await world.ov("spec", "write", "T1", "--body", "text");
  await world.ov("mail", "send", "--to", "operator", "--subject", "s", "--body", "long\n".repeat(40_000));
  const state = statePath(world.root);
  const open = ["", ...readdirSync(state, { recursive: true, encoding: "utf8" })].filter(
    (name) => (statSync(join(state, name)).mode & 0o077) !== 0,
  );
  expect(open).toEqual([]);
});

describe("--reset", () => {
  test("writes a fresh configuration and keeps the old bytes beside it", async () => {
    using world = await initWorld();
    await world.ov("init");
    const old = Buffer.concat([Buffer.from("project: [broken # "), Buffer.from([0xff, 0xfe])]);
    world.write(".overstory/config.yaml", old);
    const said = await world.json("init", "--reset");
    const [backup] = said.backups as string[];
    expect(backup).toMatch(/^\.overstory\/config\.yaml\.\d{4}-\d\d-\d\dT[\d-]+Z\.bak$/);
    expect(readFileSync(join(world.root, backup ?? "")).equals(old)).toBe(true);
    expect(said).toMatchObject({ project: "repo", created: [".overstory/config.yaml"] });
    expect(await world.json("config", "validate")).toMatchObject({ valid: true });
    expect(await world.git("status", "--porcelain")).not.toContain(".bak");
  });

  test("of a configuration that is already fresh changes nothing", async () => {
    using world = await initWorld();
    await world.ov("init");
    const before = world.snapshot();
    expect(await world.json("init", "--reset")).toMatchObject({ created: [], backups: [], committed: false });
    expect(world.snapshot()).toEqual(before);
  });
});

describe("what stands in the way", () => {
  test("something else called .overstory is a refusal that changes nothing", async () => {
    using world = await initWorld();
    world.write(".overstory", "a file");
    const before = world.snapshot();
    expect(await world.ov("init")).toMatchObject({ code: 2, err: expect.stringContaining("must be a directory") });
    expect(world.snapshot()).toEqual(before);
  });

  test.each(["info", "ov-state"])("so is something else called .git/%s", async (name) => {
    using world = await initWorld();
    const place = join(world.root, ".git", name);
    for (const take of [() => writeFileSync(place, ""), () => symlinkSync(name, place)]) {
      rmSync(place, { recursive: true, force: true });
      take();
      const { code, err } = await world.ov("init");
      // Before it sets anything up, a command looks for a state directory that is there already.
      expect(code).toBe(name === "ov-state" ? 3 : 2);
      expect(err).toContain(`${place} must be a directory`);
      expect(existsSync(join(world.root, ".overstory"))).toBe(false);
    }
  });

  test("a plain file in the place of the state directory is named by every command", async () => {
    using world = await initWorld();
    world.write(".git/ov-state", "");
    for (const args of [["status"], ["task", "create", "One"], ["engine", "status"]]) {
      const { code, out } = await world.ov(...args, "--json");
      expect({ args, code, ...JSON.parse(out).details }).toMatchObject({ args, code: 3, kind: "not-a-directory" });
    }
  });

  test("hooks that are switched off by core.hooksPath=/dev/null are no obstacle", async () => {
    using world = await initWorld();
    await world.git("config", "core.hooksPath", "/dev/null");
    await world.git("config", "core.attributesFile", "/dev/null/attributes");
    expect(await world.json("init")).toMatchObject({ success: true, committed: true });
    expect(await world.json("init")).toMatchObject({ success: true });
    expect((await world.ov("trust", "list")).code).toBe(0);
  });

  test("links to themselves where a project may have files count as not there", async () => {
    using world = await initWorld();
    for (const name of ["package.json", "CLAUDE.md", ".beads"]) symlinkSync(name, join(world.root, name));
    rmSync(join(world.root, ".git", "hooks"), { recursive: true, force: true });
    symlinkSync("hooks", join(world.root, ".git", "hooks"));
    expect(await world.json("init")).toMatchObject({ success: true, committed: true });
  });

  test("a plain file that took the place of .overstory later leaves the last known settings in force", async () => {
    using world = await initWorld();
    await world.ov("init");
    rmSync(join(world.root, ".overstory"), { recursive: true });
    world.write(".overstory", "a file");
    expect((await world.ov("status")).code).toBe(0);
    expect((await world.ov("task", "list")).code).toBe(0);
    expect((await world.ov("prompt", "show", "builder")).code).toBe(0);
  });

  test("a damaged database is named, and there is no project until it is mended", async () => {
    using world = await initWorld();
    world.write(".git/ov-state/overstory.db", "not a database, but long enough to be looked at closely ".repeat(20));
    const { code, out } = await world.ov("init", "--json");
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({ details: { kind: "store-corrupt" } });
    expect(existsSync(join(world.root, ".overstory/config.yaml"))).toBe(false);
  });

  test("flags of earlier versions are accepted with a word about them", async () => {
    using world = await initWorld();
    const { code, err } = await world.ov("init", "--skip-mulch", "--tools", "seeds");
    expect(code).toBe(0);
    expect(err).toContain("--skip-mulch is deprecated");
    expect(err).toContain("--tools is deprecated");
  });

  test("a name that cannot be used changes nothing", async () => {
    using world = await initWorld();
    expect((await world.ov("init", "--name", " ")).code).toBe(2);
    expect(existsSync(join(world.root, ".overstory"))).toBe(false);
  });
});

test("a repository that git will not use is refused in git's words", async () => {
  using world = await initWorld();
  world.write(".git/config", "[core\n");
  const { code, err } = await world.ov("init", "--yes");
  expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining("bad config line 1") });
  expect(existsSync(join(world.root, ".overstory"))).toBe(false);
});

// Only root may give a directory away.
test.skipIf(process.getuid?.() !== 0)("one that belongs to somebody else comes with git's own next step", async () => {
  using world = await initWorld();
  chownSync(join(world.root, ".git"), 12_345, 12_345);
  chownSync(world.root, 12_345, 12_345);
  const { code, err } = await world.ov("init", "--yes");
  expect(err).toContain(`git config --global --add safe.directory ${world.root}`);
  expect(code).toBe(3);
});
