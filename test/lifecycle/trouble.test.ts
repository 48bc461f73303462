import { expect, test } from "bun:test";
import {
  clockAt,
  deathNotices,
  letGo,
  lockDatabase,
  moveClock,
  pidOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
} from "../../testkit/lifecycle.ts";
import { inParallel } from "../../testkit/parallel.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Talks for ten seconds, so that there is always something to store. */
const chatty = `
- do:
    - touch: "\${env.HOME}/ready"
    - repeat: { times: 50, do: [{ say: still here }, { sleep: 200 }] }
    - waitFor: { file: "\${env.HOME}/go" }
    - shell: ov done --no-code --summary done || ov done --no-code --summary "read the mail"
`;

async function atWork(scenario: string): Promise<TestProject> {
  const project = await makeProject({ scenario });
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  await untilAgent(project, "b1", "in_turn");
  return project;
}

async function beatOf(project: TestProject): Promise<number> {
  const [turn] = await ranTurns(project, "b1");
  return (await project.read((tx) => tx.leases.get(`turn:${turn?.id}`)))?.beat ?? -1;
}

async function expectUnharmed(project: TestProject): Promise<void> {
  await letGo(project);
  await untilAgent(project, "b1", "completed", "zombie");
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done" });
  expect(startsOf(project, "b1")).toHaveLength(1);
  expect(await ranTurns(project, "b1")).toMatchObject([{ status: "settled", attempt: 1 }]);
  expect(await deathNotices(project, "b1")).toEqual([]);
}

const tell = (project: TestProject, word: string) =>
  project.ov("mail", "send", "--to", "b1", "--subject", word, "--body", word, "--json");

test.concurrent("a database that another process holds for some seconds costs time and nothing else", async () => {
  await using project = await atWork(chatty);
  const lock = await lockDatabase(project);
  const beat = await beatOf(project);
  let isSent = false;
  const sent = tell(project, "patience").finally(() => {
    isSent = true;
  });
  await letGo(project);
  // Many times what a long-lived process waits at once, and half of what a command waits in all.
  await Bun.sleep(5_000);
  expect([isSent, await beatOf(project)]).toEqual([false, beat]);
  await lock.release();
  await project.until("the next beat", async () => (await beatOf(project)) !== beat);
  expect((await sent).code).toBe(0);
  expect(await project.read((tx) => tx.messages.list({ to: "b1" }))).toHaveLength(2);
  await expectUnharmed(project);
  expect(await ranTurns(project, "b1")).toMatchObject([{ fence: 1 }]);
}, 120_000);

test.concurrent("one that is held longer than the patience is a clear error for commands, and no agent's death", async () => {
  await using project = await atWork(chatty);
  const lock = await lockDatabase(project);
  const began = performance.now();
  const answer = await tell(project, "too late");
  const waited = performance.now() - began;
  expect(answer.code).toBe(6);
  const refusal = JSON.parse(answer.out);
  expect(refusal).toMatchObject({ success: false, code: "BUSY_ERROR", exitCode: 6, retryable: true });
  const told = Number(/for (\d+) ms/.exec(refusal.error)?.[1]);
  expect(told).toBeGreaterThan(9_900);
  expect(told).toBeLessThan(waited);
  expect((await project.ov("status")).code).toBe(0);
  await lock.release();
  expect(await project.read((tx) => tx.messages.list({ to: "b1" }))).toHaveLength(1);
  await expectUnharmed(project);
}, 120_000);

test("an hour of sleep kills nobody: not who waits, not who works, not who is to be tried again", async () => {
  const scenario = `
- when: { agent: asks, turn: 1 }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?] }]
- when: { agent: works }
  do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [done, --no-code, --summary, "\${agent}"]
- when: { agent: falls, attempt: 1 }
  do: [{ exit: 1 }]
- do: [{ ov: [done, --no-code, --summary, "\${agent}"] }]
`;
  const sleeping = ["watchdog:", "  tier0IntervalMs: 100", "  staleThresholdMs: 60000", "  zombieThresholdMs: 120000"];
  await inParallel([3_600_000, -3_600_000], 2, async (offset) => {
    await using project = await makeProject({ scenario, config: `${sleeping.join("\n")}\n` });
    for (const task of ["ASKS", "WORKS", "FALLS"]) await slingNew(project, task);
    await untilAgent(project, "asks", "between_turns");
    await untilAgent(project, "works", "in_turn");
    await project.until("one had fallen", async () => (await ranTurns(project, "falls"))[0]?.status === "failed");
    const pid = await pidOf(project, "works", "agent");
    await moveClock(project, offset);
    // After a jump ahead the back-off is over; after a step back it is long, and that is all that happens.
    if (offset > 0) await untilAgent(project, "falls", "completed/done");
    await Bun.sleep(500);
    expect(await project.agent("asks")).toMatchObject({ state: "between_turns", escalationLevel: 0 });
    expect(await project.agent("works")).toMatchObject({ state: "in_turn", escalationLevel: 0 });
    expect(await pidOf(project, "works", "agent")).toBe(pid);
    await letGo(project);
    await untilAgent(project, "works", "completed/done");
    const [question] = await project.read((tx) => tx.messages.list({ from: "asks", type: "question" }));
    await project.ovWith({ env: clockAt(offset) }, "mail", "reply", question?.id ?? "", "--body", "that one");
    await untilAgent(project, "asks", "completed/done");
    for (const name of ["asks", "works", "falls"]) expect(await deathNotices(project, name)).toEqual([]);
  });
}, 180_000);
