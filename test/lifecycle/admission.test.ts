import { expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../../src/domain/agent/agent.ts";
import { letGo, ranTurns, seatedLater, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { jsonOf, type OvAnswer } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { statePath } from "../../testkit/state.ts";

const quick = `
- do:
    - ov: [done, --no-code, --summary, "\${agent}"]
`;

const numbered = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

const everybody = (project: TestProject): Promise<Agent[]> => project.read((tx) => tx.agents.list({}));

/** What a refused spawn could leave behind, other than the rows of others. */
async function traces(project: TestProject) {
  const worktrees = join(project.root, ".overstory/worktrees");
  return {
    agents: (await everybody(project)).map(({ name }) => name),
    mail: (await project.read((tx) => tx.messages.list({ type: "dispatch" }))).map(({ address }) => address),
    claims: (await project.read((tx) => tx.tasks.list({}))).flatMap(({ claimedBy }) => claimedBy ?? []),
    worktrees: existsSync(worktrees) ? readdirSync(worktrees) : [],
    branches: (await project.git("branch", "--list", "overstory/*", "--format=%(refname:short)"))
      .split("\n")
      // The landing branch is the run's, not an agent's.
      .filter((name) => name !== "" && !name.startsWith("overstory/integration/")),
    environments: readdirSync(statePath(project.root, "run/env")).length,
  };
}

test("of fifty slings at once into a run with room for five, five get a seat and the rest leave no trace", async () => {
  await using project = await makeProject({
    scenario: "- do: [{ hang: true }]\n",
    config: "agents:\n  maxSessionsPerRun: 5\n",
  });
  await slingNew(project, "FIRST");
  for (const n of numbered(7)) await project.json("task", "create", `T${n}`, "--id", `T${n}`);
  // Seven tasks for forty-nine callers: whoever is late for a task is refused as well.
  const answers = await Promise.all(
    numbered(49).map((n) => project.ov("sling", `T${n % 7}`, "--name", `a${n}`, "--json")),
  );
  const seated = answers.flatMap((answer, n) => (answer.code === 0 ? [`a${n}`] : []));
  expect(seated).toHaveLength(4);
  const kinds = answers.filter(({ code }) => code !== 0).map((answer) => [answer.code, kindOf(answer)]);
  for (const [code, kind] of kinds) {
    expect(code).toBe(6);
    expect(["run-full", "task-held"]).toContain(kind as string);
  }
  await project.until("all of them ran", async () => {
    return (await everybody(project)).every(({ state }) => state === "in_turn");
  });
  const names = ["first", ...seated].toSorted();
  const left = await traces(project);
  expect(left.agents.toSorted()).toEqual(names);
  expect(left.mail.toSorted()).toEqual(names);
  expect(left.claims.toSorted()).toEqual(names);
  expect(left.worktrees.toSorted()).toEqual(names);
  expect(left.branches).toHaveLength(5);
  expect(left.environments).toBe(5);
}, 240_000);

test("a name that was typed empty is refused, and nobody is seated", async () => {
  await using project = await makeProject();
  expect(await project.ov("sling", "Do it", "--name", "")).toMatchObject({ code: 2 });
  expect(await everybody(project)).toEqual([]);
});

test("of ten slings at once for one task one gets it", async () => {
  await using project = await makeProject({ scenario: "- do: [{ hang: true }]\n" });
  await project.json("task", "create", "One", "--id", "T1");
  const answers = await Promise.all(numbered(10).map((n) => project.ov("sling", "T1", "--name", `a${n}`, "--json")));
  expect(answers.filter(({ code }) => code === 0)).toHaveLength(1);
  const refused = answers.filter(({ code }) => code !== 0);
  for (const answer of refused) expect([answer.code, kindOf(answer)]).toEqual([6, "task-held"]);
  expect(await everybody(project)).toHaveLength(1);
}, 120_000);

test("twenty slings at once all finish, round after round", async () => {
  await using project = await makeProject({ scenario: quick });
  const rounds = process.env.SWEEP === "full" ? 10 : 3;
  for (const round of numbered(rounds)) {
    const names = numbered(20).map((n) => `r${round}-${n}`);
    const answers = await Promise.all(names.map((name) => project.ov("sling", `Round ${name}`, "--name", name)));
    expect(answers.filter(({ code }) => code !== 0)).toEqual([]);
    await project.until(
      "all of them were done",
      async () => {
        return (await everybody(project)).filter(({ outcome }) => outcome === "done").length === 20 * (round + 1);
      },
      150_000,
    );
  }
  const agents = await everybody(project);
  expect(new Set(agents.map(({ state, outcome }) => `${state}/${outcome}`))).toEqual(new Set(["completed/done"]));
  expect(await project.read((tx) => tx.messages.list({ type: "worker_done" }))).toHaveLength(20 * rounds);
}, 480_000);

test("five slings under a limit of three turns all finish, never more than three at once", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - touch: "\${env.HOME}/\${agent}.ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - sleep: 150
    - ov: [done, --no-code, --summary, "\${agent}"]
`,
    config: "agents:\n  maxConcurrent: 3\n",
  });
  const names = numbered(5).map((n) => `a${n}`);
  // All of them return, though nobody ends before the test lets it.
  await Promise.all(names.map((name) => project.json("sling", `Work of ${name}`, "--name", name)));
  const running = () => project.read((tx) => tx.turns.countRunning());
  const ready = (): number => readdirSync(project.home).filter((name) => name.endsWith(".ready")).length;
  await project.until("three ran", async () => (await running()) === 3 && ready() >= 3);
  await seatedLater(project, "later1", "later2");
  expect(ready()).toBe(3);
  await letGo(project);
  let most = 0;
  await project.until("all of them were done", async () => {
    most = Math.max(most, await running());
    return (await everybody(project)).every(({ outcome }) => outcome === "done");
  });
  expect(most).toBeLessThanOrEqual(3);
}, 120_000);

test("with two places, a coordinator and a waiting lead, two builders run at the same time", async () => {
  await using project = await makeProject({
    scenario: `
- when: { capability: coordinator }
  do:
    - ov: [sling, Lead it, --capability, lead, --name, l]
    - waitFor: { file: "\${env.HOME}/go" }
- when: { capability: lead, turn: 1 }
  do:
    - ov: [sling, Build one, --name, b1]
    - ov: [sling, Build two, --name, b2]
- when: { capability: lead }
  do: [{ say: noted }]
- do:
    - touch: "\${env.HOME}/\${agent}.ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, "\${agent}"]
`,
    config: "agents:\n  maxConcurrent: 2\n",
  });
  await project.json(
    "sling",
    "Do everything",
    "--capability",
    "coordinator",
    "--name",
    "coordinator",
    "--force-hierarchy",
  );
  await Promise.all(["b1.ready", "b2.ready"].map((file) => untilFile(project, file)));
  await Promise.all([untilAgent(project, "coordinator", "in_turn"), untilAgent(project, "l", "between_turns")]);
  expect(await ranTurns(project, "coordinator")).toMatchObject([{ status: "running" }]);
  await letGo(project);
  await Promise.all(["b1", "b2"].map((name) => untilAgent(project, name, "completed/done")));
}, 120_000);

const kindOf = (answer: OvAnswer): unknown => Object(jsonOf(answer).details).kind;
