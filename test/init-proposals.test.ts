import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ovBinary } from "../testkit/ov.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";
import { document, initWorld, type World } from "./init.world.ts";

/** A project whose gate needs installed packages, on a machine with npm. */
async function needing(): Promise<World> {
  const world = await initWorld();
  world.install("claude", "npm");
  world.write("package.json", JSON.stringify({ scripts: { test: "vitest run" }, devDependencies: { vitest: "3" } }));
  world.write("package-lock.json", "{}");
  return world;
}

const setup = async (world: World) => (await world.json("config", "get", "merge.setup")).value;

test("a first init takes the setup command of the lock file with --yes, and commits it", async () => {
  using world = await needing();
  const said = document(await world.ov("init", "--yes", "--json"));
  expect(said.setup).toEqual({ command: "npm ci", from: "package-lock.json", taken: true });
  expect(await setup(world)).toBe("npm ci");
  expect(await world.git("status", "--porcelain", ".overstory")).toBe("");
  expect(await world.json("config", "validate")).toMatchObject({ valid: true, warnings: [] });
});

test("without a terminal the setup command is only shown, with the command that sets it", async () => {
  using world = await needing();
  const { code, err } = await world.ov("init");
  expect(code).toBe(0);
  expect(err).toContain("ov config set merge.setup 'npm ci'");
  expect(await setup(world)).toBe(null);
  const again = await world.ov("init", "--yes");
  expect(again.out).toContain("npm ci (package-lock.json), before gates");
  expect(again.out).toContain("commit it");
  expect(await setup(world)).toBe("npm ci");
});

test("a setting that is there is not touched, nor asked about", async () => {
  using world = await needing();
  await world.ov("init", "--yes");
  await world.ov("config", "set", "merge.setup", "make deps");
  const { err, out } = await world.ov("init", "--yes");
  expect(err + out).not.toContain("npm ci");
  expect(await setup(world)).toBe("make deps");
});

test("without a lock file the packages that gates need are installed from package.json", async () => {
  using world = await initWorld();
  world.install("claude", "npm");
  world.write("package.json", JSON.stringify({ scripts: { test: "vitest run" }, devDependencies: { vitest: "3" } }));
  const { code, err } = await world.ov("init");
  expect(code).toBe(0);
  expect(err).toContain("gates need installed dependencies");
  expect(err).toContain("ov config set merge.setup 'npm install --no-package-lock'");
  expect(await setup(world)).toBe(null);
  await world.ov("init", "--yes");
  expect(await setup(world)).toBe("npm install --no-package-lock");
});

test("a first init names the gates it found that cannot run here, and writes them all the same", async () => {
  using world = await initWorld();
  world.install("claude");
  world.write("package.json", JSON.stringify({ packageManager: "pnpm@9.0.0", scripts: { test: "vitest run" } }));
  const { code, err } = await world.ov("init", "--yes");
  expect(code).toBe(0);
  expect(err).toContain("Tests (pnpm run test): there is no program pnpm on PATH");
  expect(err).toContain("ov config set project.qualityGates '[]'");
  const { value } = await world.json("config", "get", "project.qualityGates");
  expect(value).toMatchObject([{ command: "pnpm run test" }]);
});

const earlierGates = [
  "project:",
  "  name: garden",
  "  qualityGates:",
  "    - {name: Tests, command: bun test, description: all tests must pass}",
  "    - {name: Lint, command: 'true'}",
  "",
].join("\n");

test("gates of 0.11 that cannot run here are named with the command that removes them, never removed by --yes", async () => {
  using world = await initWorld();
  world.write(".overstory/config.yaml", earlierGates);
  for (const flags of [[], ["--yes"]]) {
    const { code, err } = await world.ov("init", ...flags);
    expect(code).toBe(0);
    expect(err).toContain("Tests (bun test)");
    expect(err).toContain(`ov config set project.qualityGates '[{"name":"Lint","command":"true"}]'`);
  }
  expect(world.read(".overstory/config.yaml")).toBe(earlierGates);
  expect(document(await world.ov("init", "--json")).unusableGates).toMatchObject([
    { name: "Tests", command: "bun test", removed: false },
  ]);
  // The command that was shown removes the gate.
  expect((await world.ov("config", "set", "project.qualityGates", '[{"name":"Lint","command":"true"}]')).code).toBe(0);
  expect(document(await world.ov("init", "--json")).unusableGates).toEqual([]);
});

/** Types an answer at a terminal. */
async function atTerminal(project: TestProject, answer: string): Promise<string> {
  const child = Bun.spawn({
    cmd: ["script", "--quiet", "--return", "--command", `${ovBinary()} init`, "/dev/null"],
    cwd: project.root,
    env: { ...project.env, TERM: "dumb" },
    stdio: [new Blob([`${answer}\n`]), "pipe", "pipe"],
  });
  const shown = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return shown;
}

test("at a terminal they are removed by a yes, and by nothing else", async () => {
  await using project = await makeProject({ bare: true });
  const config = join(project.root, ".overstory", "config.yaml");
  mkdirSync(dirname(config));
  writeFileSync(config, earlierGates);
  expect(await atTerminal(project, "n")).toContain("Remove it from .overstory/config.yaml?");
  expect(readFileSync(config, "utf8")).toBe(earlierGates);
  expect(await atTerminal(project, "y")).toContain("Changed .overstory/config.yaml");
  const { value } = await project.json("config", "get", "project.qualityGates");
  expect(value).toMatchObject([{ name: "Lint", command: "true" }]);
}, 60_000);

test("at a terminal the setup command of a first init is asked about", async () => {
  const manifest = JSON.stringify({ scripts: { test: "true" }, dependencies: { a: "1" } });
  await using project = await makeProject({
    bare: true,
    files: { "package.json": manifest, "package-lock.json": "{}" },
  });
  expect(await atTerminal(project, "y")).toContain("Install them with: npm ci (from package-lock.json)?");
  expect((await project.json("config", "get", "merge.setup")).value).toBe("npm ci");
  expect(await project.git("status", "--porcelain")).toBe("");
}, 60_000);
