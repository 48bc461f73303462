import { expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readIdentity } from "../../src/host/engine-contact/keeper.ts";
import { isFrozen, slingNew, thaw, untilAgent, untilFile, untilTurns } from "../../testkit/lifecycle.ts";
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
  // It may have judged the commit that the work began at by now, too.
  const commands = (await project.read((tx) => tx.gates.recent(5))).map(({ command }) => command);
  expect([...new Set(commands)]).toEqual(["test -e b.txt"]);
  expect(engineOf(project)).toBe(engine);
  const told = await project.read((tx) => tx.messages.list({ to: "operator", type: "status" }));
  expect(told.map(({ body }) => body)).toEqual([expect.stringMatching(/project\.qualityGates: .*true.* -> .*b\.txt/)]);
  expect((await project.ov("inbox")).out).toContain("settings were changed in a file: 1");
}, 120_000);

test("what a file changes about confinement, limits and addresses is told as well", async () => {
  await using project = await makeProject({ gates: ["true"], scenario });
  await slingNew(project, "B1");
  await untilFile(project, "committed");
  const local = join(project.root, ".overstory", "config.local.yaml");
  writeFileSync(
    local,
    "sandbox: { mode: off }\nbudgets: { run: { usd: 90 } }\nproviders: { p: { type: gateway, baseUrl: 'http://127.0.0.1:9/', authTokenEnv: T } }\n" +
      "serve: { host: 0.0.0.0 }\nlogging: { redactSecrets: false }\n",
  );
  await project.ov("status");
  writeFileSync(join(project.home, "go"), "");
  const told = () => project.read((tx) => tx.messages.list({ to: "operator", type: "status" }));
  await project.until("it was told", async () => (await told()).length > 0);
  const body = (await told()).map((letter) => letter.body).join("\n");
  expect(body).toContain('sandbox.mode: "guard" -> "off"');
  expect(body).toMatch(/budgets\.run: .*"usd":0.* -> .*"usd":90/);
  expect(body).toMatch(/providers: .* -> .*127\.0\.0\.1:9/);
  expect(body).toContain('serve.host: "127.0.0.1" -> "0.0.0.0"');
  expect(body).toContain("logging.redactSecrets: true -> false");
}, 120_000);

test("what the operator sets by a command is not told again", async () => {
  await using project = await makeProject({ gates: ["true"], scenario });
  await slingNew(project, "B1");
  await untilFile(project, "committed");
  await project.json("config", "set", "merge.parallelGates", "2");
  await project.json("config", "set", "models.builder", "sonnet");
  await project.json("config", "set", "sandbox.mode", "off");
  await project.json("config", "unset", "sandbox.mode");
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

const spends = `
- when: { turn: 1 }
  do:
    - repeat: { times: 30, do: [{ tool: { name: Look } }] }
    - hang: true
- do: [{ ov: [done, --summary, d, --no-code] }]
`;

const waitsForBudget = async (project: TestProject): Promise<boolean> =>
  (await project.read((tx) => tx.waits.of("b1"))).some(({ kind }) => kind === "budget");

test("a limit that is raised in the settings frees the agents that waited for it", async () => {
  await using project = await makeProject({ scenario: spends, config: "budgets: { agent: { usd: 0.005 } }\n" });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  await project.until("it was parked", () => waitsForBudget(project));
  await project.json("config", "set", "budgets.agent.usd", "5");
  await project.until("it may go on", async () => !(await waitsForBudget(project)));
}, 120_000);

test("so does one that is raised while the engine is about to leave", async () => {
  const stopped = join(await mkdtemp(join(tmpdir(), "ov-stopped-")), "stopped");
  const leaving = {
    OVERSTORY_TEST_KILL_IN: "engine",
    OVERSTORY_TEST_KILL_AT: "engine.before-close",
    OVERSTORY_TEST_KILL_WITH: "SIGSTOP",
    OVERSTORY_TEST_KILL_ONCE: stopped,
  };
  const config = "budgets: { agent: { usd: 0.005 } }\n";
  await using project = await makeProject({ scenario: spends, config, env: leaving });
  await slingNew(project, "B1");
  await project.until("it was parked", () => waitsForBudget(project));
  // The engine has looked at its settings for the last time, and still has its socket.
  await project.until("the engine was about to leave", async () => existsSync(stopped));
  const pid = engineOf(project) ?? expect.unreachable("the engine has left");
  // A second signal, before the engine stopped itself, would leave it stopped for ever after the thaw.
  await project.until("the engine had stopped itself", async () => isFrozen(pid));
  await project.json("config", "set", "budgets.agent.usd", "5");
  thaw(pid);
  await project.until("it may go on", async () => !(await waitsForBudget(project)));
  rmSync(dirname(stopped), { recursive: true });
}, 120_000);
