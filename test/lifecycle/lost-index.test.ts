import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { linuxProcesses } from "../../src/host/processes.ts";
import { databaseOf, freezeAtRest, letGo, slingNew, thaw, untilAgent } from "../../testkit/lifecycle.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";

const stays = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "600000" };

const asks = `
- when: { turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, Q, --body, and now]
- do:
    - ov: [done, --no-code, --summary, it is whole]
`;

const ends = { index: ["-shm"], log: ["-wal"], both: ["-wal", "-shm"] } as const;

function lose(project: TestProject, lost: keyof typeof ends): void {
  for (const end of ends[lost]) rmSync(databaseOf(project) + end);
}

const titles = async (project: TestProject): Promise<string[]> => {
  const { tasks } = (await project.json("task", "list", "--all")) as { tasks: { title: string }[] };
  return tasks.map(({ title }) => title).toSorted();
};

for (const lost of ["index", "log", "both"] as const) {
  test(`a living engine and commands go on without loss when a user deletes files beside the database: ${lost}`, async () => {
    await using project = await makeProject({ scenario: asks, env: stays });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "between_turns");
    await project.settled();
    await project.json("task", "create", "Before");
    lose(project, lost);
    for (const title of ["After 1", "After 2"]) await project.json("task", "create", title);
    await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "A", "--body", "go on");
    await untilAgent(project, "b1", "completed/done");
    expect(await titles(project)).toEqual(["After 1", "After 2", "Before", "Task B1"]);
    await project.json("engine", "stop");
    expect(await titles(project)).toEqual(["After 1", "After 2", "Before", "Task B1"]);
    using database = rawDatabase(project, "read");
    expect(database.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  }, 120_000);
}

test("a turn goes on without loss when a user deletes the index of the database under it", async () => {
  const scenario = `
- do:
    - say: begun
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, it is whole]
`;
  await using project = await makeProject({ scenario, env: { ...stays, OVERSTORY_TEST_LEASE_MS: "1500" } });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "in_turn", "working", "running");
  lose(project, "index");
  await project.json("task", "create", "Meanwhile");
  await letGo(project);
  await untilAgent(project, "b1", "completed/done");
  expect(await titles(project)).toEqual(["Meanwhile", "Task B1"]);
  const mail = await project.read((tx) => tx.messages.list({ type: "worker_done" }));
  expect(mail.map(({ subject }) => subject)).toEqual(["Nothing built: B1"]);
}, 120_000);

test("a command names a process that keeps the deleted index in use, and changes nothing", async () => {
  await using project = await makeProject({ scenario: asks, env: stays });
  const { pid } = (await project.json("engine", "start")) as { pid: number };
  await freezeAtRest(project, pid);
  lose(project, "index");
  const asked = await project.ov("task", "create", "Lost?", "--json");
  expect({ ...jsonOf(asked), exit: asked.code }).toMatchObject({
    exit: 6,
    details: { kind: "store-index-lost", holders: [pid] },
    hint: expect.stringContaining(`kill -CONT ${pid}`),
  });
  expect((await project.ov("status")).err).toContain(`process ${pid}`);
  thaw(pid);
  await project.json("task", "create", "Kept");
  await project.until("the engine had let go of the old index", async () => (await titles(project)).includes("Kept"));
  expect(await titles(project)).toEqual(["Kept"]);
  const identity = linuxProcesses.identify(pid);
  expect(identity === undefined ? "gone" : linuxProcesses.check(identity)).toBe("alive");
}, 120_000);
