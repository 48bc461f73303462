import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { makeApp } from "../src/compose/app.ts";
import { statePath } from "../testkit/state.ts";
import { document, initWorld, ownFiles } from "./init.world.ts";

describe("a first init", () => {
  test("with --json prints exactly one document with everything it found and did", async () => {
    using world = await initWorld();
    world.install("claude", "codex");
    world.write("package.json", JSON.stringify({ scripts: { test: "vitest run" } }));
    const said = document(await world.ov("init", "--json"));
    expect(Object.keys(said)).toEqual([
      "success",
      "command",
      "project",
      "isAdopted",
      "root",
      "canonicalBranch",
      "runtime",
      "gates",
      "created",
      "unchanged",
      "backups",
      "putAside",
      "committed",
      "committedOn",
      "warnings",
      "setup",
      "unusableGates",
      "unconfirmed",
      "tools",
    ]);
    expect(said).toMatchObject({
      success: true,
      command: "init",
      project: "repo",
      root: world.root,
      canonicalBranch: "main",
      runtime: "claude",
      gates: [{ name: "Tests", command: "npm test", from: "package.json" }],
      unchanged: [],
      backups: [],
      putAside: null,
      committed: true,
      warnings: [],
      tools: { overstory: { status: "initialized", path: join(world.root, ".overstory") } },
    });
    expect(said.created).toEqual([
      ".overstory",
      ".overstory/worktrees",
      ".overstory/specs",
      ".git/ov-state",
      ".git/ov-state/agents",
      ".git/ov-state/logs",
      ".git/ov-state/run",
      ".overstory/.gitignore",
      ".overstory/README.md",
      ".overstory/agent-manifest.json",
      ".git/info/exclude",
      ".git/ov-state/overstory.db",
      "CLAUDE.md",
      ".overstory/config.yaml",
    ]);
  });

  test("leaves a project that other commands can use, without a path of this machine in what is shared", async () => {
    using world = await initWorld();
    expect((await world.ov("init")).code).toBe(0);
    expect(await world.json("config", "validate")).toMatchObject({ valid: true, problems: [], warnings: [] });
    for (const file of ownFiles) expect(world.read(file)).not.toContain(world.base);
    expect(statSync(statePath(world.root, "run")).mode & 0o777).toBe(0o700);
    const tracked = (await world.git("ls-files")).trim().split("\n");
    expect(tracked.sort()).toEqual([...ownFiles, "CLAUDE.md"].sort());
    expect(await world.git("status", "--porcelain")).toBe("");
    expect(await world.git("log", "-1", "--format=%s %an")).toBe("chore: initialise overstory Ann\n");
  });

  test("shares what belongs to everyone and ignores the rest", async () => {
    using world = await initWorld();
    await world.ov("init", "--no-commit");
    for (const name of ["agent-defs/a.md", "groups.json", "hooks.json", "config.local.yaml", "specs/a.md"]) {
      world.write(`.overstory/${name}`, "x");
    }
    const shown = (await world.git("status", "--porcelain", "--untracked-files=all")).trim().split("\n");
    expect(shown.map((line) => line.slice(3)).sort()).toEqual(
      [
        ...ownFiles,
        ".overstory/agent-defs/a.md",
        ".overstory/groups.json",
        ".overstory/hooks.json",
        "CLAUDE.md",
      ].sort(),
    );
  });

  test("works in a repository without a commit and in one with a history", async () => {
    using world = await initWorld({ branch: "trunk" });
    expect(await world.json("init")).toMatchObject({ committed: true, canonicalBranch: "trunk" });
    expect((await world.git("rev-list", "--count", "HEAD")).trim()).toBe("1");

    using other = await initWorld();
    other.write("a.txt", "a");
    await other.git("add", ".");
    await other.git("commit", "--quiet", "-m", "first");
    expect(await other.json("init")).toMatchObject({ committed: true });
    expect((await other.git("diff", "--name-only", "HEAD~1")).trim().split("\n").sort()).toEqual(
      [...ownFiles, "CLAUDE.md"].sort(),
    );
  });

  test("takes name and branch from origin, and the name from --name first", async () => {
    using world = await initWorld({ branch: "topic" });
    await world.git("remote", "add", "origin", "git@example.invalid:team/garden.git");
    await world.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/1");
    expect(await world.json("init", "--no-commit")).toMatchObject({ project: "garden", canonicalBranch: "release/1" });
    expect((await world.ov("init")).err).toContain("there is no branch release/1 (project.canonicalBranch)");
    await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
    await world.git("update-ref", "refs/remotes/origin/release/1", "HEAD");
    await world.git("commit", "--quiet", "--allow-empty", "-m", "of this branch alone");
    const toMake = "git branch release/1 origin/release/1";
    expect((await world.ov("init")).err).toContain(`make it with: ${toMake}, or`);
    expect((await world.ov("doctor", "--category", "config")).out).toContain(toMake);
    const refused = await world.ov("config", "set", "project.canonicalBranch", "release/1");
    expect(refused.err).toContain(`create it first: ${toMake}`);
    await world.git(...toMake.split(" ").slice(1));
    expect((await world.ov("init")).err).not.toContain("there is no branch");
    using named = await initWorld();
    expect(await named.json("init", "--name", "mine")).toMatchObject({ project: "mine" });
    expect(await named.json("config", "get", "project.name")).toMatchObject({ value: "mine" });
  });

  test("chooses only what it can drive and what starts, and without any it still works and says so", async () => {
    using world = await initWorld();
    world.install("cursor-agent");
    const { code, err } = await world.ov("init");
    expect(code).toBe(0);
    expect(err).toContain("cursor cannot be used here yet");
    expect(await world.json("config", "get", "runtime.default")).toMatchObject({ value: "claude" });
    expect(await world.json("init")).toMatchObject({
      warnings: [expect.stringContaining("claude --version"), expect.stringContaining("quality gate")],
    });
  });

  test.each(["codex", "gemini", "copilot", "pi"])("chooses %s where no other agent is", async (program) => {
    using world = await initWorld();
    world.install(program, "cursor-agent");
    expect((await world.ov("init")).err).not.toContain("no agent can start");
    expect(await world.json("config", "get", "runtime.default")).toMatchObject({ value: program });
  });

  test("shows and judges the runtime that is in force here, also when a local file decides it", async () => {
    using world = await initWorld();
    await world.ov("init");
    expect((await world.ov("config", "set", "runtime.default", "scripted", "--local")).code).toBe(0);
    for (const flags of [[], ["--reset"]]) {
      const said = document(await world.ov("init", ...flags, "--json"));
      expect(said).toMatchObject({ runtime: "scripted" });
      expect(JSON.stringify(said.warnings)).not.toContain("no agent can start");
    }
    expect((await world.ov("init", "--reset")).out).toContain("runtime  scripted");
    const gate = '[{"name":"g","command":"true"}]';
    expect((await world.ov("config", "set", "project.qualityGates", gate, "--local")).code).toBe(0);
    for (const flags of [[], ["--reset"]]) {
      const said = document(await world.ov("init", ...flags, "--json"));
      expect(said).toMatchObject({ gates: [{ name: "g", command: "true", from: "config.local.yaml" }] });
      expect(JSON.stringify(said.warnings)).not.toContain("no quality gate is known");
    }
    expect(world.read(".overstory/config.yaml")).not.toContain("scripted");
  });

  test("says what is missing: a coding agent on the PATH and a quality gate, and how to set one", async () => {
    using world = await initWorld();
    const { err } = await world.ov("init");
    expect(err).toContain("no coding agent was found on PATH");
    world.install("claude");
    const [, typed] = /ov config set project\.qualityGates '(.+)'/.exec(err) ?? [];
    expect((await world.ov("config", "set", "project.qualityGates", typed ?? "")).code).toBe(0);
    expect(await world.json("init")).toMatchObject({ gates: [{ name: "Tests", command: "make test" }], warnings: [] });
  });

  test("from a subdirectory sets up the top, also with blanks and other alphabets in the path", async () => {
    using world = await initWorld({ repo: "mein Gärtchen/проект 木" });
    mkdirSync(join(world.root, "src/ä b"), { recursive: true });
    const said = document(await world.ovIn(join(world.root, "src/ä b"), "init", "--json"));
    expect(said).toMatchObject({ project: "проект 木", root: world.root, committed: true });
    expect(existsSync(join(world.root, ".overstory/config.yaml"))).toBe(true);
    expect(await world.json("config", "get", "project.name")).toMatchObject({ value: "проект 木" });
  });

  test("in a linked worktree sets up that worktree, and the repository has one project from then on", async () => {
    using world = await initWorld();
    await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
    const linked = join(world.base, "linked");
    await world.git("worktree", "add", "--quiet", linked);
    expect(document(await world.ovIn(linked, "init", "--json"))).toMatchObject({ root: linked, committed: true });
    expect(document(await world.ovIn(world.root, "init", "--json"))).toMatchObject({ root: linked, created: [] });
  });

  test("in a linked worktree names what keeps git from removing it with the worktrees of agents", async () => {
    using world = await initWorld();
    await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
    const linked = join(world.base, "linked here");
    await world.git("worktree", "add", "--quiet", "-b", "linked", linked);
    const words = `keep git from that with: git worktree lock '${linked}'`;
    const { warnings } = document(await world.ovIn(linked, "init", "--json"));
    expect(warnings).toContainEqual(expect.stringContaining(words));
    await world.git("worktree", "lock", linked);
    expect(document(await world.ovIn(linked, "init", "--json")).warnings).not.toContainEqual(
      expect.stringContaining("git worktree lock"),
    );
    await expect(world.git("worktree", "remove", linked)).rejects.toThrow();
  });

  test("in a linked worktree of a project is that project", async () => {
    using world = await initWorld();
    await world.ov("init");
    const linked = join(world.base, "linked");
    await world.git("worktree", "add", "--quiet", linked);
    expect(document(await world.ovIn(linked, "init", "--json"))).toMatchObject({ root: world.root, created: [] });
  });

  test("outside of a work tree there is nothing to set up", async () => {
    using world = await initWorld();
    const plain = join(world.base, "plain");
    const bare = join(world.base, "bare.git");
    mkdirSync(plain);
    await world.git("init", "--quiet", "--bare", bare);
    const odd = join(world.base, "two\nlines");
    await world.git("init", "--quiet", odd);
    const reasons = [
      [plain, "not-a-git-repository"],
      [bare, "bare-repository"],
      [join(world.root, ".git"), "inside-git-directory"],
      [join(world.root, ".git", "refs"), "inside-git-directory"],
      [odd, "line-break-in-path"],
    ] as const;
    for (const [place, kind] of reasons) {
      const { code, out } = await world.ovIn(place, "init", "--json");
      expect(code).toBe(3);
      expect(JSON.parse(out)).toMatchObject({ success: false, details: { kind, path: place } });
      expect(existsSync(join(place, ".overstory"))).toBe(false);
    }
    for (const root of [world.root, odd]) expect(existsSync(join(root, ".git", "ov-state"))).toBe(false);
  });

  test("leaves a directory alone that has the name of the instruction file", async () => {
    using world = await initWorld();
    mkdirSync(join(world.root, "CLAUDE.md"));
    const said = await world.ov("init");
    expect([said.code, existsSync(join(world.root, ".overstory", "config.yaml"))]).toEqual([0, true]);
  });

  test("--project names the repository from elsewhere", async () => {
    using world = await initWorld();
    const app = makeApp({ cwd: world.base, env: world.env, project: "repo" });
    const said = await app.call("project.init", { reset: false, commit: true, instructions: true });
    expect(said).toMatchObject({ ok: true, value: { root: world.root } });
    expect(await app.call("project.currentBranch", {})).toEqual({ ok: true, value: "main" });
  });

  test("an agent may not set up or reset a project", async () => {
    using world = await initWorld();
    await world.ov("init");
    world.env.OVERSTORY_TOKEN = "t";
    world.env.OVERSTORY_AGENT_NAME = "b1";
    // The database alone changes: it has the refusals on record.
    const files = (): unknown => ({ ...world.snapshot(), ".git/ov-state/overstory.db": undefined });
    const before = files();
    expect(await world.ov("init", "--reset")).toMatchObject({ code: 8, err: expect.stringContaining("b1 may not") });
    expect((await world.ov("config", "set", "agents.maxDepth", "9")).code).toBe(8);
    expect((await world.ov("trust", "add", "anything")).code).toBe(8);
    expect((await world.ov("config", "get", "agents.maxDepth")).out).toBe("2\n");
    expect(files()).toEqual(before);
  });
});

describe("a second init", () => {
  test("changes not a byte and says so", async () => {
    using world = await initWorld();
    world.write("CLAUDE.md", "# Mine\n");
    await world.git("add", ".");
    await world.git("commit", "--quiet", "-m", "first");
    const first = await world.json("init");
    const before = world.snapshot();
    const again = await world.json("init");
    expect(world.snapshot()).toEqual(before);
    expect(again).toMatchObject({
      created: [],
      committed: false,
      tools: { overstory: { status: "already_initialized" } },
    });
    expect(again.unchanged).toEqual(first.created);
  });

  test("keeps edited configuration, ignore rules and readme", async () => {
    using world = await initWorld();
    world.install("claude");
    await world.ov("init");
    world.write(".overstory/config.yaml", "# mine\nproject: {name: renamed}\nagents:\n  maxDepth: 1 # low\n");
    world.write(".overstory/.gitignore", "*\n");
    world.write(".overstory/README.md", "ours");
    // The copy for branches without settings follows the file.
    const kept = (): unknown => ({ ...world.snapshot(), ".git/ov-state/config/config.yaml": undefined });
    const before = kept();
    expect(await world.json("init", "--name", "other")).toMatchObject({
      project: "renamed",
      created: [],
      warnings: [expect.stringContaining('keeps its name "renamed"'), expect.stringContaining("no quality gate")],
    });
    expect(kept()).toEqual(before);
  });

  test("warns a person that there was a project already, unless --force or --yes is given", async () => {
    using world = await initWorld();
    await world.ov("init");
    expect((await world.ov("init")).err).toContain("set up already");
    expect((await world.ov("init", "--force")).err).not.toContain("set up already");
    expect((await world.ov("init", "-y")).err).not.toContain("set up already");
  });

  test("completes what is missing and commits only that", async () => {
    using world = await initWorld();
    await world.ov("init");
    rmSync(join(world.root, ".overstory/README.md"));
    rmSync(statePath(world.root, "logs"), { recursive: true });
    await world.git("commit", "--quiet", "-am", "drop the readme");
    expect(await world.json("init")).toMatchObject({
      created: [".git/ov-state/logs", ".overstory/README.md"],
      committed: true,
    });
    expect(await world.git("diff", "--name-only", "HEAD~1")).toBe(".overstory/README.md\n");
  });

  test("finishes one that was cut short before the configuration, and commits all of it", async () => {
    using world = await initWorld();
    await world.ov("init", "--no-commit");
    rmSync(join(world.root, ".overstory/config.yaml"));
    expect(await world.json("init")).toMatchObject({
      created: [".overstory/config.yaml"],
      committed: true,
      tools: { overstory: { status: "initialized" } },
    });
    expect((await world.git("ls-files")).trim().split("\n").sort()).toEqual([...ownFiles, "CLAUDE.md"].sort());
  });

  test("never replaces a configuration that cannot be read, nor changes anything else", async () => {
    using world = await initWorld();
    world.write(".overstory/config.yaml", "project: [unclosed\n");
    const before = world.snapshot();
    const { code, out } = await world.ov("init", "--json");
    expect(code).toBe(3);
    expect(JSON.parse(out)).toMatchObject({
      details: { kind: "config-invalid", problems: [{ line: expect.any(Number) }] },
    });
    expect(world.snapshot()).toEqual(before);
  });
});
