import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { killServices, letGo, slingNew, untilAgent, untilFile, untilTurns } from "../../testkit/lifecycle.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const scenario = `
- when: { agent: b1, turn: 1 }
  do:
    - touch: "\${env.HOME}/began"
    - waitFor: { file: "\${env.HOME}/go" }
- do:
    - ov: [done, --no-code, --summary, "\${agent}"]
`;

const configOf = ({ root }: TestProject): string => join(root, ".overstory", "config.yaml");
const logOf = ({ root }: TestProject): string => readFileSync(statePath(root, "run", "engine.log"), "utf8");

test("an engine that is started while a file is broken goes on with the last known copy, and says so once", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilFile(project, "began");
  writeFileSync(configOf(project), "agents: [broken\n");
  killServices(project);
  await letGo(project);
  await project.ov("status");
  // The turns are supervised to their end, and the agent can report.
  await untilTurns(project, "b1", 2);
  await untilAgent(project, "b1", "completed/done");
  const told = logOf(project)
    .split("\n")
    .filter((line) => line.includes("its last known copy counts"));
  expect(told).toHaveLength(1);
}, 120_000);

test("without a copy of the settings the engine says so once and leaves, until the file is mended", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilFile(project, "began");
  const good = readFileSync(configOf(project), "utf8");
  writeFileSync(configOf(project), "agents: [broken\n");
  rmSync(statePath(project.root, "config"), { recursive: true });
  killServices(project);
  await letGo(project);
  const command = [ovBinary(), "engine", "run", "--project", project.root];
  const log = statePath(project.root, "run", "engine.log");
  for (let start = 0; start < 3; start++) {
    const engine = Bun.spawn({ cmd: ["sh", "-c", '"$@" 2>>"$0"', log, ...command], env: project.env, cwd: "/" });
    expect(await engine.exited).toBe(0);
  }
  const told = logOf(project)
    .split("\n")
    .filter((line) => line.includes("the next ov command starts it again"));
  expect(told).toHaveLength(1);
  writeFileSync(configOf(project), good);
  await project.ov("status");
  await untilAgent(project, "b1", "completed/done");
}, 120_000);

test("an engine that leaves because of its settings takes its keeper off the record, so that the next command starts one", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilFile(project, "began");
  writeFileSync(configOf(project), "agents: [broken\n");
  rmSync(statePath(project.root, "config"), { recursive: true });
  killServices(project);
  const record = statePath(project.root, "run", "keeper.json");
  // The process that starts the engine is its keeper. While it counts, no command starts another one.
  const keeper = (script: string) => `
    const { linuxProcesses } = await import(${JSON.stringify(join(import.meta.dir, "../../src/host/processes.ts"))});
    await Bun.write(${JSON.stringify(record)}, JSON.stringify(linuxProcesses.identify(process.pid)));
    ${script}`;
  const run = JSON.stringify([ovBinary(), "engine", "run", "--project", project.root]);
  const ended = Bun.spawnSync([process.execPath, "-e", keeper(`process.exit(Bun.spawnSync(${run}).exitCode)`)], {
    env: project.env,
  });
  expect([ended.exitCode, ended.stderr.toString()]).toEqual([0, ""]);
  expect(existsSync(record)).toBe(false);
  await letGo(project);
}, 120_000);

test("turns go on with the settings that the engine knows while a file is broken", async () => {
  await using project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilFile(project, "began");
  writeFileSync(configOf(project), "agents: [broken\n");
  await letGo(project);
  await untilTurns(project, "b1", 2);
  await untilAgent(project, "b1", "completed/done");
}, 120_000);

test("while a file is broken an agent's mail and its word that it is done get through; it can start nobody", async () => {
  const [report, ask] = ["mail send --to operator --subject Half --body half", "sling X1 --skip-task-check"];
  await using project = await makeProject({
    scenario: `
- when: { agent: b1 }
  do:
    - touch: "\${env.HOME}/began"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: ${report}
    - { ov: ${ask}, expect: 3 }
    - ov: [done, --no-code, --summary, "\${agent}"]
`,
  });
  await slingNew(project, "B1");
  await untilFile(project, "began");
  writeFileSync(configOf(project), "agents: [broken\n");
  await letGo(project);
  await untilAgent(project, "b1", "completed/done");
  expect((await project.ov("mail", "list")).out).toContain("Half");
}, 120_000);
