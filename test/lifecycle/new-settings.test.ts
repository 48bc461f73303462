import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readIdentity } from "../../src/host/engine-contact/keeper.ts";
import { slingNew, untilAgent, untilFile, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** The agent waits in its turn, so that the engine that started it stays. */
const scenario = `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - touch: "\${env.HOME}/committed"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --summary, All done]
`;

const engineOf = (project: TestProject) => readIdentity(statePath(project.root, "run", "engine.json"))?.pid;
const configOf = (project: TestProject): string => join(project.root, ".overstory", "config.yaml");

test("a gate that is added while agents work judges what they bring", async () => {
  await using project = await makeProject({ gates: ["true"], scenario });
  await slingNew(project, "B1");
  await untilFile(project, "committed");
  const engine = engineOf(project);
  writeFileSync(
    configOf(project),
    readFileSync(configOf(project), "utf8").replace('command: "true"', 'command: "test -e b.txt"'),
  );
  writeFileSync(join(project.home, "go"), "");
  await project.until("the new gate has judged it", async () =>
    (await project.read((tx) => tx.gates.recent(5))).some(({ command }) => command === "test -e b.txt"),
  );
  expect((await project.read((tx) => tx.gates.recent(5))).map(({ command }) => command)).toEqual(["test -e b.txt"]);
  expect(engineOf(project)).toBe(engine);
  const told = await project.read((tx) => tx.messages.list({ to: "operator", type: "status" }));
  expect(told.map(({ body }) => body)).toEqual([expect.stringMatching(/project\.qualityGates: .*true.* -> .*b\.txt/)]);
  expect((await project.ov("inbox")).out).toContain("settings that decide what lands");
}, 120_000);

test("what the operator sets by a command is not told again", async () => {
  await using project = await makeProject({ gates: ["true"], scenario });
  await slingNew(project, "B1");
  await untilFile(project, "committed");
  await project.json("config", "set", "merge.parallelGates", "2");
  writeFileSync(join(project.home, "go"), "");
  await untilAgent(project, "b1", "completed/done");
  expect(await project.read((tx) => tx.messages.list({ to: "operator", type: "status" }))).toEqual([]);
}, 120_000);

test("settings that cannot be used leave the engine with those it has, and are taken once they are mended", async () => {
  await using project = await makeProject({ gates: ["true"], scenario });
  await slingNew(project, "B1");
  await untilFile(project, "committed");
  const good = readFileSync(configOf(project), "utf8");
  writeFileSync(configOf(project), `${good}merge: { parallelGates: many }\n`);
  await project.ov("status");
  expect(engineOf(project)).toBeDefined();
  writeFileSync(configOf(project), good.replace('command: "true"', 'command: "test -d ."'));
  writeFileSync(join(project.home, "go"), "");
  await untilAgent(project, "b1", "completed/done");
  expect((await project.read((tx) => tx.gates.recent(5))).map(({ command }) => command)).toEqual(["test -d ."]);
}, 120_000);

test("a limit that is raised in the settings frees the agents that waited for it", async () => {
  const spends = `
- when: { turn: 1 }
  do:
    - repeat: { times: 30, do: [{ tool: { name: Look } }] }
    - hang: true
- do: [{ ov: [done, --summary, d, --no-code] }]
`;
  await using project = await makeProject({ scenario: spends, config: "budgets: { agent: { usd: 0.005 } }\n" });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const waits = () => project.read((tx) => tx.waits.of("b1"));
  await project.until("it was parked", async () => (await waits()).some(({ kind }) => kind === "budget"));
  await project.json("config", "set", "budgets.agent.usd", "5");
  await project.until("it may go on", async () => (await waits()).every(({ kind }) => kind !== "budget"));
}, 120_000);
