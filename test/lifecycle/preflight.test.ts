import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deathNotices, ranTurns, textIn, untilAgent } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** The programs that our own commands need, and no coding agent. */
const plainPath = [...new Set(["git", "sh"].map((name) => dirname(Bun.which(name) ?? "/bin/sh")))].join(":");

async function bareProject(): Promise<TestProject> {
  const project = await makeProject({ env: { PATH: plainPath } });
  const file = join(project.root, ".overstory", "config.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("default: scripted", "default: claude"));
  await project.json("task", "create", "T1", "--id", "T1");
  return project;
}

const spawnedWith = { runtime: "claude", driver: "stream-json", cliVersion: "9.8.7" };

/** A program called claude that counts how often it is asked for its version. */
function install(project: TestProject, script: string): Record<string, string> {
  const bin = join(project.home, "bin");
  mkdirSync(bin, { recursive: true });
  const asked = `[ "$1" = --version ] && { echo asked >> "$HOME/asked"; ${script}; }`;
  writeFileSync(join(bin, "claude"), `#!/bin/sh\n${asked}\nexit 1\n`, { mode: 0o755 });
  return { PATH: `${bin}:${plainPath}` };
}

test("without the agent's program nothing is started and nothing is reserved, and the next command is named", async () => {
  await using project = await bareProject();
  for (const command of [
    ["sling", "T1", "--name", "b1"],
    ["coordinator", "start"],
    ["go", "Do something", "--yes"],
  ]) {
    const answer = await project.ov(...command, "--json");
    expect([command[0], answer.code]).toEqual([command[0], 3]);
    expect(jsonOf(answer)).toMatchObject({
      success: false,
      error: expect.stringContaining('there is no program "claude" on PATH'),
      hint: expect.stringContaining("claude --version"),
    });
  }
  expect(await project.read((tx) => tx.agents.list({}))).toEqual([]);
  expect(await project.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "open" });
}, 120_000);

test("without git on the PATH that agents would get nothing is started, also where our own commands find git", async () => {
  await using project = await makeProject();
  await project.json("task", "create", "T1", "--id", "T1");
  const env = { PATH: join(project.home, "nothing") };
  const answer = await project.ovWith({ env }, "sling", "T1", "--name", "b1", "--json");
  expect(jsonOf(answer)).toMatchObject({
    success: false,
    exitCode: 3,
    error: expect.stringContaining('there is no program "git" on PATH'),
    hint: expect.stringContaining("git --version"),
  });
  expect(await project.read((tx) => tx.agents.list({}))).toEqual([]);
}, 120_000);

test("ov go looks for the agent's program before it sets a repository up", async () => {
  await using project = await makeProject({ bare: true, env: { PATH: plainPath } });
  for (const flags of [[], ["--runtime", "claude"]]) {
    const refused = await project.ov("go", "Do something", ...flags, "--yes", "--json");
    expect(refused.code).toBe(3);
    expect(jsonOf(refused).error).toContain('there is no program "claude" on PATH');
    expect(readdirSync(project.root).toSorted()).toEqual([".git", "README.md"]);
    expect(existsSync(join(project.root, ".git", "ov-state"))).toBe(false);
  }
  expect(await project.git("log", "--format=%s")).toBe("first\n");
}, 120_000);

test("a program that cannot start is refused with what it said; one that can is asked once", async () => {
  await using project = await bareProject();
  const broken = install(project, "echo 'no such library' >&2; exit 1");
  const refused = await project.ovWith({ env: broken }, "sling", "T1", "--name", "b1", "--json");
  expect(refused.code).toBe(3);
  expect(jsonOf(refused).error).toContain("no such library");
  rmSync(join(project.home, "asked"));
  const env = install(project, "echo '9.8.7 (Coding Agent)'; exit 0");
  for (const name of ["b1", "b2", "b3"]) {
    await project.ovWith({ env }, "task", "create", name, "--id", name.toUpperCase());
    expect((await project.ovWith({ env }, "sling", name.toUpperCase(), "--name", name)).code).toBe(0);
  }
  expect(readFileSync(join(project.home, "asked"), "utf8")).toBe("asked\n");
  // What it said is kept with each agent, also where the answer was remembered.
  const { agents } = await project.json("status");
  expect(agents).toMatchObject(["b1", "b2", "b3"].map((agentName) => ({ agentName, ...spawnedWith })));
}, 120_000);

test("a program that is gone when its agent starts ends the agent at the first try", async () => {
  await using project = await bareProject();
  // It is there to be asked, and takes itself away when it is.
  const env = install(project, 'rm "$0"; exit 0');
  expect((await project.ovWith({ env }, "sling", "T1", "--name", "b1")).code).toBe(0);
  await untilAgent(project, "b1", "zombie/crashed");
  expect(await ranTurns(project, "b1")).toMatchObject([{ attempt: 1, failure: "program", exitCode: 127 }]);
  const [notice] = await deathNotices(project, "b1");
  expect(notice?.body).toContain("claude --version");
}, 120_000);

test("agents and their gates find programs where the shell that slung them does", async () => {
  await using project = await makeProject({
    gates: ["my-tool gate"],
    scenario: `
- do:
    - shell: my-tool agent
    - edit: { file: work.txt, write: "x\\n" }
    - commit: work
    - ov: [done, --summary, done]
`,
  });
  const bin = join(project.home, "tools");
  mkdirSync(bin);
  writeFileSync(join(bin, "my-tool"), `#!/bin/sh\necho "$1" >> ${join(project.home, "used")}\n`, { mode: 0o755 });
  // The engine is there already, with another PATH.
  await project.json("engine", "start");
  await project.json("task", "create", "T1", "--id", "T1");
  const env = { PATH: `${bin}:${project.env.PATH}` };
  expect((await project.ovWith({ env }, "sling", "T1", "--name", "b1")).code).toBe(0);
  await untilAgent(project, "b1", "completed/done");
  expect(await textIn(project, "used")).toStartWith("agent\ngate\n");
  // Landing and promotion gate with it too, also when the target has moved and the agent is gone by then.
  writeFileSync(join(project.root, "mine.txt"), "mine\n");
  await project.git("add", "mine.txt");
  await project.git("commit", "--quiet", "-m", "mine");
  const branch = (await project.agent("b1"))?.branch ?? "";
  expect(await project.ovWith({ env }, "merge", "--branch", branch)).toMatchObject({ code: 0 });
  await project.until("the agent was cleaned up", async () => (await project.agent("b1"))?.cleanedAt !== null);
  expect(await project.ovWith({ env }, "merge", "promote")).toMatchObject({ code: 0 });
  expect(await project.git("show", "main:work.txt")).toBe("x\n");
}, 120_000);
