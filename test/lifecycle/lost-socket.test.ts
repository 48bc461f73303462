import { expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { pidsOf } from "../../src/host/kill-points.ts";
import { linuxProcesses } from "../../src/host/processes.ts";
import { freezeAtRest } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

/** An engine that stays idle for longer than the test takes. */
const idle = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" };

const scenario = `
- do:
    - ov: [done, --no-code, --summary, done]
`;

const run = (project: TestProject, ...below: string[]): string => statePath(project.root, "run", ...below);

const startedEngine = async (project: TestProject): Promise<number> =>
  Number((await project.json("engine", "start")).pid);

async function slingToTheEnd(project: TestProject, name: string): Promise<void> {
  await project.json("sling", "Work", "--name", name, "--skip-task-check");
  await project.until(`${name} was done`, async () => (await project.agent(name)).outcome === "done");
}

test("an idle engine makes its socket and its notice again when they are deleted, and hears of the next work", async () => {
  await using project = await makeProject({ scenario, env: idle });
  const pid = await startedEngine(project);
  for (const [at, path] of [
    run(project),
    run(project, "contact", "engine.sock"),
    run(project, "engine.json"),
  ].entries()) {
    rmSync(path, { recursive: true });
    await project.until(
      "the socket was there again",
      async () => existsSync(path) && existsSync(run(project, "engine.json")),
    );
    expect(await project.json("engine", "start")).toMatchObject({ pid, started: false });
    await slingToTheEnd(project, `b${at}`);
    expect(pidsOf("engine", project.root)).toEqual([pid]);
  }
}, 120_000);

test("the next command has an engine replaced that cannot make its socket again", async () => {
  // A silent engine is given up after little more than a second.
  await using project = await makeProject({ scenario, env: { ...idle, OVERSTORY_TEST_LEASE_MS: "600" } });
  const pid = await startedEngine(project);
  await freezeAtRest(project, pid);
  rmSync(run(project), { recursive: true });
  await slingToTheEnd(project, "b1");
  const identity = linuxProcesses.identify(pid);
  expect(identity === undefined || linuxProcesses.check(identity) === "gone").toBe(true);
}, 120_000);
