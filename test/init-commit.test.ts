import { expect, test } from "bun:test";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { initWorld, ownFiles } from "./init.world.ts";

test("leaves what the user had staged staged and uncommitted, partly staged files included", async () => {
  using world = await initWorld();
  world.write("half.txt", "one\n");
  await world.git("add", ".");
  await world.git("commit", "--quiet", "-m", "first");
  world.write("staged.txt", "mine");
  world.write("half.txt", "two\n");
  await world.git("add", ".");
  world.write("half.txt", "three\n");
  world.write("loose.txt", "mine");
  expect(await world.json("init")).toMatchObject({ committed: true, warnings: expect.any(Array) });
  expect(await world.git("status", "--porcelain")).toBe("MM half.txt\nA  staged.txt\n?? loose.txt\n");
  expect(await world.git("show", ":half.txt")).toBe("two\n");
  expect((await world.git("show", "--name-only", "--format=")).trim().split("\n").sort()).toEqual(
    [...ownFiles, "CLAUDE.md"].sort(),
  );
});

test("does so in a repository without a commit too", async () => {
  using world = await initWorld();
  world.write("staged.txt", "mine");
  await world.git("add", ".");
  expect(await world.json("init")).toMatchObject({ committed: true });
  expect(await world.git("status", "--porcelain")).toBe("A  staged.txt\n");
});

test("finishes a set-up that was cut short between its files and its commit", async () => {
  using world = await initWorld();
  await world.json("init", "--no-commit");
  expect(await world.git("status", "--porcelain")).toContain("?? .overstory/");
  expect(await world.json("init")).toMatchObject({ committed: true });
  expect(await world.git("status", "--porcelain")).toBe("");
  expect(await world.json("init")).toMatchObject({ committed: false });
});

test("does not take along uncommitted changes of the instruction file", async () => {
  using world = await initWorld();
  world.write("CLAUDE.md", "# Mine\n");
  await world.git("add", ".");
  await world.git("commit", "--quiet", "-m", "first");
  world.write("CLAUDE.md", "# Mine, better\n");
  const said = await world.json("init");
  expect(said).toMatchObject({ committed: true });
  expect(said.warnings).toContainEqual(expect.stringMatching(/^not committed: CLAUDE\.md \(changes of yours/));
  expect(await world.git("status", "--porcelain")).toBe(" M CLAUDE.md\n");
  using fresh = await initWorld();
  fresh.write("CLAUDE.md", "# Not even added\n");
  expect(await fresh.json("init")).toMatchObject({ committed: true });
  expect(await fresh.git("status", "--porcelain")).toBe("?? CLAUDE.md\n");
});

test("says that the hooks of a commit were not run", async () => {
  using world = await initWorld();
  world.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
  chmodSync(join(world.root, ".git/hooks/pre-commit"), 0o755);
  const said = await world.json("init");
  expect(said.warnings).toContain("the new files were committed without running git hooks: pre-commit");
  expect(said.created).toContain(".git/info/exclude");
});

test("runs no hook, no filter and no monitor of the repository, neither at first nor again", async () => {
  using world = await initWorld();
  const trap = join(world.base, "trap");
  const mark = join(world.base, "sprung");
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> '${mark}'\ncat\n`);
  chmodSync(trap, 0o755);
  for (const hook of [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-index-change",
    "reference-transaction",
  ]) {
    world.write(`.git/hooks/${hook}`, `#!/bin/sh\n'${trap}' ${hook} < /dev/null\nexit 1\n`);
    chmodSync(join(world.root, ".git/hooks", hook), 0o755);
  }
  world.write(".git/info/attributes", "* filter=planted diff=planted\n");
  for (const [key, value] of Object.entries({
    "core.fsmonitor": trap,
    "filter.planted.clean": trap,
    "filter.planted.smudge": trap,
    "diff.planted.textconv": trap,
    "core.editor": trap,
    "gpg.program": trap,
  })) {
    await world.git("config", key, value);
  }
  expect(await world.json("init")).toMatchObject({ committed: true });
  expect(await world.json("init", "--reset", "--name", "other")).toMatchObject({ committed: true });
  expect(existsSync(mark) ? world.read("../sprung") : "").toBe("");
  expect(await world.git("-c", "core.fsmonitor=false", "log", "--format=%s %an")).toBe(
    "chore: initialise overstory Ann\nchore: initialise overstory Ann\n",
  );
});

test("a commit that cannot be signed is a warning, and the index is as it was", async () => {
  using world = await initWorld();
  const asks = join(world.base, "asks");
  writeFileSync(asks, "#!/bin/sh\necho no secret key >&2\nexit 2\n");
  chmodSync(asks, 0o755);
  process.env.GIT_CONFIG_GLOBAL = join(world.base, "gitconfig");
  try {
    await world.git("config", "--global", "commit.gpgSign", "true");
    await world.git("config", "--global", "gpg.program", asks);
    const said = await world.json("init");
    expect(said).toMatchObject({ success: true, committed: false });
    expect(said.warnings).toContainEqual(expect.stringContaining("could not be signed"));
  } finally {
    delete process.env.GIT_CONFIG_GLOBAL;
  }
  expect(await world.git("diff", "--cached", "--name-only")).toBe("");
});

test("without an identity is a warning", async () => {
  using world = await initWorld();
  writeFileSync(join(world.base, "gitconfig"), "[user]\n\tuseConfigOnly = true\n");
  const said = await world.json("init");
  expect(said).toMatchObject({ success: true, committed: false });
  expect(said.warnings).toContainEqual(
    expect.stringMatching(/^not committed: .*fatal: .*git config --global user\.name .*ov init/),
  );
});

test("without an identity no agent starts, and nothing is set up for a team", async () => {
  using world = await initWorld();
  await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
  writeFileSync(join(world.base, "gitconfig"), "[user]\n\tuseConfigOnly = true\n\tname = Ann\n");
  const before = world.snapshot();
  const gone = await world.json("go", "Say hello", "--yes", "--runtime", "scripted");
  expect(gone).toMatchObject({ success: false, details: { kind: "committer-unknown" } });
  expect(gone.hint).toContain("git config --global user.email");
  expect(world.snapshot()).toEqual(before);
  await world.json("init", "--no-commit");
  for (const args of [
    ["sling", "a task"],
    ["coordinator", "start"],
  ]) {
    const said = await world.json(...args, "--runtime", "scripted");
    expect([args, said.success, said.details]).toMatchObject([args, false, { kind: "committer-unknown" }]);
  }
  expect(await world.json("status", "--all")).toMatchObject({ agents: [] });
});

test("in the middle of a merge is a warning, and the merge goes on", async () => {
  using world = await initWorld();
  await world.git("commit", "--quiet", "--allow-empty", "-m", "first");
  await world.git("checkout", "--quiet", "-b", "side");
  await world.git("commit", "--quiet", "--allow-empty", "-m", "side");
  await world.git("checkout", "--quiet", "main");
  await world.git("merge", "--quiet", "--no-ff", "--no-commit", "side");
  expect(await world.json("init")).toMatchObject({ committed: false });
  expect(await world.git("diff", "--cached", "--name-only")).toBe("");
  expect(existsSync(join(world.root, ".git/MERGE_HEAD"))).toBe(true);
});

test("is left out with --no-commit, and for files that git is told to ignore", async () => {
  using world = await initWorld();
  expect(await world.json("init", "--no-commit")).toMatchObject({ committed: false });
  expect(await world.git("diff", "--cached", "--name-only")).toBe("");
  using hidden = await initWorld();
  hidden.write(".gitignore", ".overstory/\nCLAUDE.md\n");
  const said = await hidden.json("init");
  expect(said).toMatchObject({ committed: false });
  expect(said.warnings).toContainEqual(expect.stringContaining("git is told to ignore that"));
});

test("is not misled by variables that point git elsewhere", async () => {
  using world = await initWorld();
  world.env.GIT_DIR = join(world.base, "nowhere");
  world.env.GIT_INDEX_FILE = join(world.base, "index");
  expect(await world.json("init")).toMatchObject({ committed: true });
});
