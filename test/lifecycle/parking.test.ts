import { describe, expect, test } from "bun:test";
import { openSqlite } from "../../src/store/sqlite.ts";
import {
  databaseOf,
  deathNotices,
  killServices,
  promptsOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilLaterTurn,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { storedAgent } from "../../testkit/use-case.ts";

const asking = `
- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "next? \${turn}"] }]
`;

/** An engine without work stays long enough to be killed. */
const patient = { OVERSTORY__ENGINE__IDLE_EXIT_MS: "60000" };

const settledTurns = (project: TestProject, count: number): Promise<void> =>
  project.until(`${count} turns were settled`, async () => {
    const turns = await ranTurns(project, "b1");
    return turns.length === count && turns.every(({ status }) => status === "settled");
  });

const tell = (project: TestProject, word: string) =>
  project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", word, "--body", word);

const budgetWaits = async (project: TestProject): Promise<string[]> =>
  (await project.read((tx) => tx.waits.of("b1"))).filter(({ kind }) => kind === "budget").map(({ ref }) => ref);

describe("a budget of two turns for the run", () => {
  test("parks at its end with one notice, outlives the engine, and a raise lets the agent go on", async () => {
    const config = "budgets:\n  run:\n    turns: 2\n";
    await using project = await makeProject({ scenario: asking, config, env: patient });
    await slingNew(project, "B1");
    await settledTurns(project, 1);
    await tell(project, "first");
    await settledTurns(project, 2);
    await tell(project, "second");
    await project.until("it was parked", async () => (await budgetWaits(project)).length === 1);
    const notices = async () =>
      (await project.read((tx) => tx.messages.list({ to: "operator", type: "escalation" }))).filter(({ subject }) =>
        subject.startsWith("[ENGINE] budget used up: "),
      );
    await project.until("the operator was told", async () => (await notices()).length === 1);
    await project.json("engine", "start");
    killServices(project);
    await tell(project, "third");
    await project.json("engine", "stop");
    await project.json("engine", "start");
    // Work of another run, which its budget does not hold back, is begun by the same engine.
    await slingNew(project, "B2", "--run", "new");
    await untilAgent(project, "b2", "between_turns");
    expect(startsOf(project, "b1")).toHaveLength(2);
    expect(await notices()).toHaveLength(1);
    const { runId } = await project.agent("b1");
    const shown = await project.json("budget", "show");
    expect(shown.budgets).toContainEqual(
      expect.objectContaining({ scope: "run", subject: runId, unit: "turns", limit: 2, spent: 2, parked: ["b1"] }),
    );
    expect(await project.json("budget", "raise", "run", runId, "turns", "1")).toMatchObject({ resumed: ["b1"] });
    await settledTurns(project, 3);
    expect(promptsOf(project, "b1")[2]).toContain("second");
    expect(promptsOf(project, "b1")[2]).toContain("third");
    await tell(project, "fourth");
    await project.until("it was parked again", async () => (await budgetWaits(project)).length === 1);
    expect(startsOf(project, "b1")).toHaveLength(3);
    expect(await deathNotices(project, "b1")).toEqual([]);
  }, 120_000);
});

describe("ov pause", () => {
  test("keeps mail and turns waiting, also over a restart of the engine, until ov resume", async () => {
    await using project = await makeProject({ scenario: asking, env: patient });
    await slingNew(project, "B1");
    await settledTurns(project, 1);
    expect(await project.json("pause", "b1")).toMatchObject({ paused: ["b1"], running: [] });
    await tell(project, "while paused");
    await project.json("engine", "start");
    killServices(project);
    await project.json("engine", "start");
    await untilLaterTurn(project);
    expect(startsOf(project, "b1")).toHaveLength(1);
    expect(await project.json("resume", "b1")).toMatchObject({ resumed: ["b1"], queued: ["b1"] });
    await settledTurns(project, 2);
    expect(promptsOf(project, "b1")[1]).toContain("while paused");
  });

  test("lets a running turn end, and holds back the next", async () => {
    await using project = await makeProject({
      scenario: `
- when: { turn: 1 }
  do:
    - waitFor: { file: "\${env.HOME}/go" }
    - say: that was the first turn
- do: [{ ov: [done, --no-code, --summary, done] }]
`,
    });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "in_turn");
    expect(await project.json("pause", "b1")).toMatchObject({ paused: ["b1"], running: ["b1"] });
    await Bun.write(`${project.home}/go`, "");
    await settledTurns(project, 1);
    await untilLaterTurn(project);
    expect(await project.agent("b1")).toMatchObject({ state: "between_turns", outcome: null });
    await project.json("resume", "b1");
    await untilAgent(project, "b1", "completed/done");
  });
});

test("a message to a group of twenty is one message, twenty deliveries and no turn, unless it is to wake them", async () => {
  await using project = await makeProject({ scenario: asking });
  await slingNew(project, "B1");
  await settledTurns(project, 1);
  // An engine would stay to watch over those who are added here, for they wait for nothing.
  await project.until("every process had ended", async () => project.processes().length === 0);
  const { runId } = await project.agent("b1");
  const store = openSqlite({ path: databaseOf(project), life: "process" });
  await store.transaction(async (tx) => {
    for (let n = 2; n <= 20; n++) {
      const seat = { state: "between_turns", worktreePath: project.root, worktreeKind: "root" } as const;
      await tx.agents.reserve(storedAgent(`b${n}`, { runId, ...seat }));
    }
  });
  await store.close();
  const sent = await project.json("mail", "send", "--to", "@builders", "--subject", "news", "--body", "main moved");
  expect(sent.recipients).toHaveLength(20);
  const stored = await project.read((tx) => tx.messages.list({ from: "operator", type: "status" }));
  expect(stored).toHaveLength(1);
  expect(await project.read((tx) => tx.deliveries.ofMessage(stored[0]?.seq ?? 0))).toHaveLength(20);
  expect(await project.read((tx) => tx.turns.dueWork(Date.now()))).toBe(false);
  expect(project.processes()).toEqual([]);
  expect(startsOf(project, "b1")).toHaveLength(1);
  // Nobody is there who could start the turns before they are counted.
  const waking = ["mail", "send", "--to", "@builders", "--subject", "now", "--body", "all of you", "--wake"];
  await project.ovWith({ env: { OVERSTORY_TEST_KILL_AT: "command.before-wake" } }, ...waking);
  const woken = await project.read(async (tx) => {
    let turns = 0;
    for (const { id } of await tx.agents.list({ live: true })) {
      if ((await tx.turns.queuedFor(id)) !== undefined) turns++;
    }
    return turns;
  });
  expect(woken).toBe(20);
});
