import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { KillPoint } from "../../src/ports/kill-points.ts";
import { databaseBytes, deathNotices, killOnceAt, ranTurns, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { inParallel } from "../../testkit/parallel.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** From the supervisor's first transaction to the last instant before its agent may run. */
const beforeTheAgentRuns = [
  "turn.started",
  "turn.before-spawn",
  "turn.after-spawn",
  "turn.after-identity",
] as const satisfies readonly KillPoint[];

test("a stop that comes at any instant between claim and start leaves an agent that never ran", async () => {
  await inParallel(beforeTheAgentRuns, 3, async (point) => {
    await using project = await makeProject({ scenario: "- do: [{ hang: true }]\n" });
    await project.json("task", "create", "Do it", "--id", "T1");
    const { marker, env: kill } = killOnceAt(project, point, "keeper,engine,self");
    const env = { ...kill, OVERSTORY__ENGINE__IDLE_EXIT_MS: "20000" };
    // Started first, so that whoever strikes finds both on record.
    await project.ovWith({ env }, "engine", "start");
    await project.ovWith({ env }, "sling", "T1", "--name", "b1");
    await project.until(`${point} was reached`, async () => existsSync(marker));
    await project.until("nobody was left", async () => project.processes().length === 0);
    const stopped = await project.json("stop", "b1");
    expect(stopped).toMatchObject({ stopped: true });
    expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped" });
    await project.until("every process had ended", async () => project.processes().length === 0);
    expect(readdirSync(project.state)).toEqual(["killed"]);
    // The operator is its parent and knows.
    expect(await deathNotices(project, "b1")).toEqual([]);
    expect(await ranTurns(project, "b1")).toMatchObject([{ status: "settled" }]);
    expect((await project.json("stop", "b1")).alreadyEnded).toBe(true);
  });
}, 180_000);

/** Something in every table, and nobody with anything left to do. */
async function stillLife(): Promise<TestProject> {
  const project = await makeProject({
    scenario: `
- when: { agent: b1 }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?] }]
- do: [{ say: that was all }]
`,
  });
  await slingNew(project, "B1");
  await slingNew(project, "B2");
  await untilAgent(project, "b1", "between_turns");
  await untilAgent(project, "b2", "completed/no_signal");
  await project.until("every process had ended", async () => project.processes().length === 0);
  return project;
}

test("looking changes nothing, however one looks and from wherever", async () => {
  await using project = await stillLife();
  const before = databaseBytes(project);
  mkdirSync(join(project.root, "deep"));
  const looks = [
    ["status"],
    ["status", "--all"],
    ["agents", "discover", "--all"],
    ["run", "list"],
    ["task", "list"],
    ["mail", "list"],
    ["mail", "dead"],
    ["budget", "show"],
    ["engine", "status"],
  ];
  await inParallel(looks, 3, async (look) => {
    const answer = await project.ovWith({ cwd: join(project.root, "deep") }, ...look, "--json");
    expect([look, answer.code]).toEqual([look, 0]);
  });
  expect(databaseBytes(project)).toBe(before);
  expect(project.processes()).toEqual([]);
}, 120_000);
