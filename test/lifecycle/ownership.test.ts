import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { allProcesses, entryOf } from "../../src/host/linux/process-table.ts";
import { aboutProcess } from "../../testkit/about-process.ts";
import {
  deathNotices,
  killServices,
  letGo,
  pidOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";

/** Tells that it is at work, and finishes when it is let go. */
const patient = `
- do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
`;

async function atWork(scenario: string, env: Record<string, string> = {}): Promise<TestProject> {
  const project = await makeProject({ scenario, env });
  await slingNew(project, "B1");
  await untilFile(project, "ready");
  return project;
}

/** Done once, by one process, whoever watched it. */
async function expectDoneOnce(project: TestProject): Promise<void> {
  await untilAgent(project, "b1", "completed", "zombie");
  await project.settled();
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done", generation: 1 });
  expect(startsOf(project, "b1")).toHaveLength(1);
  expect(await ranTurns(project, "b1")).toMatchObject([{ status: "settled", attempt: 1 }]);
  expect(await project.read((tx) => tx.messages.list({ from: "b1", type: "worker_done" }))).toHaveLength(1);
  expect(await deathNotices(project, "b1")).toEqual([]);
  await project.until("every process had ended", async () => project.processes().length === 0);
}

const fenceOf = async (project: TestProject): Promise<number> => (await ranTurns(project, "b1"))[0]?.fence ?? 0;

describe("a supervisor that is killed while its agent works", () => {
  test("is replaced by one that adopts the agent, which notices nothing", async () => {
    await using project = await atWork(patient);
    const agent = await pidOf(project, "b1", "agent");
    for (const fence of [2, 3]) {
      process.kill(await pidOf(project, "b1", "supervisor"), "SIGKILL");
      await project.until("another one had it", async () => (await fenceOf(project)) === fence);
      await project.until("it had said so", async () => (await supervisors(project)).length === 1);
    }
    expect(await pidOf(project, "b1", "agent")).toBe(agent);
    await letGo(project);
    await expectDoneOnce(project);
  });

  test("leaves a turn that is settled from its file when the agent ended it meanwhile", async () => {
    await using project = await atWork(`
- do:
    - touch: "\${env.HOME}/ready"
    - waitFor: { file: "\${env.HOME}/go" }
    - ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?]
`);
    const agent = await pidOf(project, "b1", "agent");
    killServices(project);
    process.kill(await pidOf(project, "b1", "supervisor"), "SIGKILL");
    await letGo(project);
    await project.until("the agent had left", async () => !isAlive(agent));
    expect(await ranTurns(project, "b1")).toMatchObject([{ status: "running" }]);
    await project.json("status");
    await untilAgent(project, "b1", "between_turns");
    expect(startsOf(project, "b1")).toHaveLength(1);
    expect(await ranTurns(project, "b1")).toMatchObject([{ status: "settled", attempt: 1 }]);
  });

  test("leaves a turn that is settled by its terminal mail when the agent died after it", async () => {
    await using project = await atWork(`
- do:
    - ov: [done, --no-code, --summary, done]
    - touch: "\${env.HOME}/ready"
    - hang: true
`);
    killServices(project);
    const pids = [await pidOf(project, "b1", "supervisor"), await pidOf(project, "b1", "agent")];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await project.json("status");
    await expectDoneOnce(project);
  });

  test("leaves a turn that is tried again when the agent died without a word", async () => {
    await using project = await atWork(patient);
    killServices(project);
    const pids = [await pidOf(project, "b1", "supervisor"), await pidOf(project, "b1", "agent")];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    await project.json("status");
    await project.until("it was to be tried again", async () => {
      const [turn] = await ranTurns(project, "b1");
      return turn?.status === "failed" && (await project.agent("b1")).state === "between_turns";
    });
    expect(await deathNotices(project, "b1")).toEqual([]);
  });
});

test("a supervisor that was stopped for too long loses its turn, and changes nothing when it wakes up", async () => {
  await using project = await atWork(patient, { OVERSTORY_TEST_LEASE_MS: "3000" });
  const first = await pidOf(project, "b1", "supervisor");
  const agent = await pidOf(project, "b1", "agent");
  process.kill(first, "SIGSTOP");
  await project.until("another one had it", async () => (await fenceOf(project)) === 2);
  await project.until("it had said so", async () => {
    const [now] = await supervisors(project);
    return now !== undefined && now !== first;
  });
  expect(await pidOf(project, "b1", "agent")).toBe(agent);
  await untilAgent(project, "b1", "in_turn");
  const before = await transitions(project);
  wake(first);
  await project.until("the first one was gone", async () => !isAlive(first));
  expect(isAlive(agent)).toBe(true);
  expect(await transitions(project)).toEqual(before);
  await letGo(project);
  await expectDoneOnce(project);
}, 120_000);

test("twenty processes that write to one agent at once never give it two live processes, and lose no mail", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - sleep: 60
    - ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "next? \${turn}"]
`,
  });
  await slingNew(project, "B1");
  using watch = watchAgent(project, "b1");
  const words = Array.from({ length: 20 }, (_, n) => `word-${n}-`);
  await Promise.all(
    words.map((word, n) =>
      n % 2 === 0
        ? project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", word, "--body", word)
        : project.json("nudge", "b1", word, "--force"),
    ),
  );
  await project.until("all of it was read", async () => {
    const open = await project.read((tx) => tx.deliveries.inState("b1", ["queued", "claimed", "delivered", "dead"]));
    return open.length === 0;
  });
  await project.settled();
  expect(watch.most()).toBeLessThanOrEqual(1);
  const starts = startsOf(project, "b1");
  expect(new Set(starts.map(({ pid }) => pid)).size).toBe(starts.length);
  const acked = await project.read((tx) => tx.deliveries.inState("b1", ["acked"]));
  expect(acked).toHaveLength(21);
  const inputs = readFileSync(`${project.state}/b1/inputs.ndjson`, "utf8");
  for (const word of words) expect(inputs.split("\n").filter((line) => line.includes(word))).toHaveLength(1);
}, 180_000);

const supervisors = async (project: TestProject): Promise<number[]> => {
  const { id } = await project.agent("b1");
  const live = await project.read((tx) => tx.processes.liveForAgent(id));
  return live.filter(({ role, pid }) => role === "supervisor" && isAlive(pid)).map(({ pid }) => pid);
};

const isAlive = (pid: number): boolean => allProcesses().some((entry) => entry.pid === pid && !entry.defunct);

function wake(pid: number): void {
  try {
    process.kill(pid, "SIGCONT");
  } catch (error) {
    // It was ended in its sleep.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

async function transitions(project: TestProject): Promise<unknown[]> {
  using database = rawDatabase(project, "read");
  return database.query("SELECT * FROM transitions ORDER BY seq").all();
}

/** Looks all the time how many processes of the agent's own program are alive at once. */
function watchAgent(project: TestProject, name: string): Disposable & { most(): number } {
  let most = 0;
  const isAgent = (pid: number): boolean =>
    aboutProcess(pid, "cmdline").split("\0")[1] === "scripted-agent" &&
    aboutProcess(pid, "environ").includes(`OVERSTORY_AGENT_NAME=${name}\0`);
  const timer = setInterval(() => {
    // What an agent starts looks like the agent itself until it has become what it shall be.
    const live = project.processes().filter((pid) => isAgent(pid) && !isAgent(entryOf(pid)?.parent ?? 0));
    most = Math.max(most, live.length);
  }, 5);
  return { most: () => most, [Symbol.dispose]: () => clearInterval(timer) };
}
