import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Leaves a commit and a change that it did not commit, and works on. */
const working = `
- do:
    - edit: { file: kept.txt, write: "committed\\n" }
    - commit: "Keep this"
    - edit: { file: rest.txt, write: "not committed\\n" }
    - touch: "\${env.HOME}/ready"
    - hang: true
`;

async function slung(scenario = working): Promise<TestProject> {
  const project = await makeProject({ scenario });
  await project.json("task", "create", "Export CSV", "--id", "T1");
  await project.json("task", "create", "Document it", "--id", "T2", "--blocked-by", "T1");
  await project.json("sling", "T1", "--name", "b1");
  await project.until("it works", async () => existsSync(join(project.home, "ready")));
  return project;
}

/** Ended, released, on no task, told as no death; its work is there. */
async function expectLetGo(project: TestProject): Promise<void> {
  await project.until("it was let go", async () => (await project.agent("b1")).releasedAt !== null);
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped" });
  const { task, deaths, held } = await project.read(async (tx) => ({
    task: await tx.tasks.get("T1"),
    deaths: await tx.messages.list({ type: "worker_died" }),
    held: (await tx.tasks.list({ unclosed: true })).filter(({ claimedBy }) => claimedBy !== null),
  }));
  expect(task).toMatchObject({ status: "closed", mergeState: "abandoned", closeReason: "dropped: no CSV after all" });
  expect({ deaths, held }).toEqual({ deaths: [], held: [] });
  await project.until("every process had ended", async () => project.processes().length === 0);
  expect(await project.git("show", "overstory/b1/T1:kept.txt")).toContain("committed");
  const snapshots = await project.json("snapshots", "list", "--agent", "b1");
  expect(JSON.stringify(snapshots)).toContain("refs/overstory/snap/b1/");
  const refs = (await project.git("for-each-ref", "--format=%(refname)", "refs/overstory/snap/b1")).trim().split("\n");
  const files = await Promise.all(refs.map((ref) => project.git("ls-tree", "-r", "--name-only", ref)));
  expect(files.join("\n")).toContain("rest.txt");
}

test("a dropped task stops its agent, lets it go, keeps its work and makes what waited for it ready", async () => {
  await using project = await slung();
  const dropped = await project.json("task", "drop", "T1", "--reason", "no CSV after all");
  expect(dropped).toMatchObject({
    alreadyDropped: false,
    agents: [{ agentName: "b1", stopped: true }],
    kept: [{ agentName: "b1", branch: "overstory/b1/T1", commits: 1, uncommitted: true }],
    ready: [{ id: "T2" }],
  });
  await expectLetGo(project);
  // Said again, it changes nothing; the work of the task can still be taken up.
  expect(await project.json("task", "drop", "T1", "--reason", "once more")).toMatchObject({ alreadyDropped: true });
  expect((await project.ov("task", "show", "T1")).out).toContain("no CSV after all");
  await project.json("task", "drop", "T2", "--reason", "nothing to document");
  expect(await project.json("run", "complete")).toMatchObject({ status: "completed" });
}, 120_000);

test("commits on a detached HEAD are not counted as those of the branch", async () => {
  const detached = working.replace('- edit: { file: rest.txt, write: "not committed\\n" }', (rest) =>
    [
      "- shell: git checkout --quiet --detach",
      "- edit: { file: more.txt, write: more }",
      '- commit: "More"',
      rest,
    ].join("\n    "),
  );
  await using project = await slung(detached);
  const dropped = await project.ov("task", "drop", "T1", "--reason", "no CSV after all");
  expect(dropped.out).toContain(
    "kept: 1 commit of b1 on overstory/b1/T1, 1 commit that its branch lacks and its uncommitted changes as a snapshot",
  );
}, 120_000);

test("a drop whose command dies after its decision is finished by the engine", async () => {
  await using project = await slung();
  const env = { OVERSTORY_TEST_KILL_AT: "command.before-wake" };
  await project.ovWith({ env }, "task", "drop", "T1", "--reason", "no CSV after all");
  await expectLetGo(project);
}, 120_000);

test("without a reason nothing is dropped", async () => {
  await using project = await slung();
  const refused = await project.ov("task", "drop", "T1", "--reason", " ");
  expect(refused.code).toBe(2);
  expect((await project.agent("b1")).stopRequestedBy).toBeNull();
  await project.ov("stop", "b1", "--force");
}, 120_000);
