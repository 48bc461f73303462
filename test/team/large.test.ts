import { expect, test } from "bun:test";
import type { Turn } from "../../src/domain/turn/turn.ts";
import { promptsOf } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { teamScenario, writeBrains } from "../../testkit/team/brains.ts";
import { branchOf, filesAfter, firstFiles, largePlan } from "../../testkit/team/plan.ts";

const limitMs = 400_000;
const crashes = largePlan.troubles.filter(({ kind }) => kind === "crash").map(({ agent }) => agent);
const limited = largePlan.troubles.filter(({ kind }) => kind === "rate-limit").map(({ agent }) => agent);

test("25 agents finish unattended through five crashes, two rate limits and two conflicts, and what lands is what was meant", async () => {
  await using project = await makeProject({
    files: firstFiles,
    gates: ["test ! -e broken"],
    scenario: teamScenario(largePlan),
    config: "agents:\n  maxConcurrent: 6\ncoordinator:\n  lastReview: false\n",
  });
  writeBrains(project.home, largePlan);
  await project.json("coordinator", "start", "--objective", "Make the ledger useful");
  const runOf = () => project.read(async (tx) => (await tx.runs.list(1))[0]);
  await project.until("the run was complete", async () => (await runOf())?.status === "completed", limitMs);
  await project.until("every process had ended", async () => project.processes().length === 0);

  const agents = await project.read((tx) => tx.agents.list({}));
  expect(new Set(agents.map(({ name }) => name)).size).toBe(25);
  expect(agents.filter(({ outcome }) => outcome !== "done")).toEqual([]);
  expect(await project.read((tx) => tx.messages.list({ type: "worker_died" }))).toEqual([]);

  const merges = await project.read((tx) => tx.merges.list({}));
  expect(merges.map(({ branch, status }) => `${branch} ${status}`).toSorted()).toEqual(
    largePlan.works.map((work) => `${branchOf(work)} merged`).toSorted(),
  );
  const conflicts = merges.filter(({ tier }) => tier === "auto-resolve");
  expect(conflicts.map(({ strategy }) => strategy)).toEqual(["structured", "structured"]);
  const landing = (await runOf())?.landingBranch ?? "";
  expect(await filesOf(project, landing)).toEqual(filesAfter(await changesInOrder(project, landing)));

  const turns = await turnsByName(project);
  const ran = [...turns.values()].flat();
  const killed = ran.filter(({ exitSignal, clean }) => clean !== true && exitSignal !== null);
  expect(killed.map(({ agentName }) => agentName).toSorted()).toEqual(crashes.toSorted());
  const failed = ran.filter(({ status }) => status !== "settled").map(({ agentName }) => agentName);
  expect(failed.toSorted()).toEqual([...crashes, ...limited].toSorted());
  for (const [name, own] of turns) expectNewMail(name, own, promptsOf(project, name));
  await report(project, ran);
}, 480_000);

/** Each turn brings mail that no settled turn has brought before; a reminder may come without any. */
function expectNewMail(name: string, turns: readonly Turn[], prompts: readonly string[]): void {
  expect([name, prompts.length]).toEqual([name, turns.length]);
  const read = new Set<string>();
  for (const [at, { trigger, status }] of turns.entries()) {
    const ids = [...(prompts[at] ?? "").matchAll(/^id: (\S+)$/gm)].map(([, id]) => id ?? "");
    expect([name, at, ids.filter((id) => read.has(id))]).toEqual([name, at, []]);
    if (trigger !== "reminder") expect([name, at, trigger, ids.length]).not.toEqual([name, at, trigger, 0]);
    if (status === "settled") for (const id of ids) read.add(id);
  }
}

/** Every turn that ran, by agent, oldest first. */
async function turnsByName(project: TestProject): Promise<Map<string, Turn[]>> {
  const agents = await project.read((tx) => tx.agents.list({}));
  const turns = (await Promise.all(agents.map(({ id }) => project.read((tx) => tx.turns.listFor(id))))).flat();
  const ran = turns.filter(({ startedAt }) => startedAt !== null);
  return Map.groupBy(
    ran.toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0)),
    ({ agentName }) => agentName,
  );
}

async function filesOf(project: TestProject, branch: string): Promise<Record<string, string>> {
  const names = (await project.git("ls-tree", "-r", "--name-only", branch)).trim().split("\n");
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await project.git("show", `${branch}:${name}`)] as const)),
  );
}

/** What was built, in the order in which it landed. */
async function changesInOrder(project: TestProject, landing: string) {
  const subjects = (await project.git("log", "--reverse", "--topo-order", "--format=%s", `main..${landing}`)).split(
    "\n",
  );
  const works = subjects.flatMap((subject) =>
    largePlan.works.filter(({ builder }) => subject === `Work of ${builder}`),
  );
  expect(works).toHaveLength(largePlan.works.length);
  return works.map(({ change }) => change);
}

async function report(project: TestProject, ran: readonly Turn[]): Promise<void> {
  const workers = new Set(largePlan.works.flatMap(({ builder }) => [builder, `review-${builder}`]));
  const turns = ran.filter(({ agentName }) => workers.has(agentName)).length;
  const messages = await project.read((tx) => tx.messages.list({}));
  const ratio = (messages.length / turns).toFixed(2);
  console.log(
    `${messages.length} messages, ${ran.length} turns, ${turns} of workers: ${ratio} messages per worker turn`,
  );
}
