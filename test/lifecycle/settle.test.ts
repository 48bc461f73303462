import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  deathNotices,
  letGo,
  promptsOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { rawDatabase } from "../../testkit/raw-database.ts";

/** Long enough for any machine to start a program and to hear its first word. */
const stalling = "turn:\n  stallTimeoutMs: 5000\n";

const done = (body: string) => `[done, --no-code, --summary, ${body}]`;

/** Two builders that report to their lead when they are told to; the lead ends when it has heard of both. */
const leadWithTwo = `
- when: { agent: l, turn: 1 }
  do:
    - ov: [sling, B1, --name, b1]
    - ov: [sling, B2, --name, b2]
- when: { agent: l }
  do:
    - shell: |
        echo turn >> "$HOME/turns"
        if [ -e "$HOME/b1.told" ] && [ -e "$HOME/b2.told" ]; then
          ov mail send --to operator --type worker_done --subject Done --body "both are in" || true
        fi
- do:
    - waitFor: { file: "\${env.HOME}/\${agent}" }
    - touch: "\${env.HOME}/\${agent}.told"
    - ov: [done, --no-code, --reason, nothing was wrong, --summary, fine]
`;

async function waitingLead(config = ""): Promise<TestProject> {
  const project = await makeProject({ scenario: leadWithTwo, config });
  for (const task of ["B1", "B2"]) await project.json("task", "create", task, "--id", task);
  await slingNew(project, "L", "--capability", "lead");
  await untilAgent(project, "l", "between_turns");
  for (const name of ["b1", "b2"]) await untilAgent(project, name, "in_turn");
  return project;
}

const childWaits = async (project: TestProject): Promise<string[]> =>
  (await project.read((tx) => tx.waits.of("l"))).filter(({ kind }) => kind === "child").map(({ ref }) => ref);

describe("a lead whose turn ended while its two builders work", () => {
  test("waits for both, and a builder's mail alone starts its next turn, due after the coalescing window", async () => {
    await using project = await waitingLead();
    expect(await childWaits(project)).toEqual(["b1", "b2"]);
    expect(await deathNotices(project, "l")).toEqual([]);
    await letGo(project, "b1");
    await project.until("the lead had a second turn", async () => (await ranTurns(project, "l")).length === 2);
    const [report] = await project.read((tx) => tx.messages.list({ from: "b1" }));
    const [, next] = await ranTurns(project, "l");
    // The other builder could have reported as well.
    expect((next?.notBefore ?? 0) - (report?.createdAt ?? 0)).toBe(500);
    await project.until("it was over", async () => (await ranTurns(project, "l"))[1]?.status === "settled");
    expect(await project.agent("l")).toMatchObject({ state: "between_turns" });
    await untilAgent(project, "b1", "completed/done");
    expect(await childWaits(project)).toEqual(["b2"]);
    await letGo(project, "b2");
    await untilAgent(project, "l", "completed/done");
    expect((await ranTurns(project, "l")).map(({ trigger }) => trigger)).toEqual(["mail", "mail", "mail"]);
    expect(await deathNotices(project, "l")).toEqual([]);
  });

  test("hears of both in one turn when they report within the coalescing window", async () => {
    await using project = await waitingLead("mail:\n  coalesceMs: 5000\n");
    await Promise.all([letGo(project, "b1"), letGo(project, "b2")]);
    await untilAgent(project, "l", "completed/done");
    expect(startsOf(project, "l")).toHaveLength(2);
    const [, second = ""] = promptsOf(project, "l");
    expect(second).toContain("Nothing built: B1");
    expect(second).toContain("Nothing built: B2");
  });
});

test("an agent that ends its turns without finishing gets two reminders, then its parent is told once", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: l, turn: 1 }
  do: [{ ov: [sling, B1, --name, b1] }]
- do: [{ say: that was that }]
`,
  });
  await project.json("task", "create", "B1", "--id", "B1");
  await slingNew(project, "L", "--capability", "lead");
  // A lead without waits is treated no better than its builder.
  await Promise.all(["b1", "l"].map((name) => untilAgent(project, name, "completed/no_signal")));
  for (const name of ["b1", "l"]) {
    const reminded = promptsOf(project, name).filter((prompt) => prompt.includes("neither finished nor said"));
    expect(reminded).toHaveLength(2);
    expect((await deathNotices(project, name)).map(({ address }) => address)).toEqual([
      name === "l" ? "operator" : "l",
    ]);
  }
  expect((await ranTurns(project, "b1")).map(({ trigger }) => trigger)).toEqual(["mail", "reminder", "reminder"]);
  await project.until("every process had ended", async () => project.processes().length === 0);
  expect(startsOf(project, "b1")).toHaveLength(3);
});

test("a second turn that leaves work open leaves the agent waiting as the first did", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "question \${turn}"]
`,
  });
  await slingNew(project, "B1");
  for (const turn of [1, 2, 3]) {
    await project.until(`turn ${turn} was settled`, async () => {
      const turns = await ranTurns(project, "b1");
      return turns.length === turn && turns.every(({ status }) => status === "settled");
    });
    expect(await project.agent("b1")).toMatchObject({ state: "between_turns", outcome: null, reminders: 0 });
    const [question] = await project.read((tx) => tx.messages.list({ from: "b1", type: "question" }));
    if (turn < 3) await project.json("mail", "reply", question?.id ?? "", "--body", `answer ${turn}`);
  }
});

describe("terminal mail outranks whatever becomes of the process afterwards", () => {
  const endings = [
    ["exit 1", "exit: 1", ""],
    ["an error result", "result: { text: all went wrong, error: true }", ""],
    ["a stall", "hang: true", stalling],
    ["SIGKILL", "kill: SIGKILL", ""],
  ] as const;
  test.each(endings)("with %s the agent is done and nobody is told of a death", async (_, step, config) => {
    await using project = await makeProject({
      config,
      scenario: `
- do:
    - ov: ${done("it is there")}
    - ${step}
`,
    });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "completed", "zombie");
    expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "done" });
    await project.settled();
    expect(await deathNotices(project, "b1")).toEqual([]);
    expect(startsOf(project, "b1")).toHaveLength(1);
    const [turn] = await ranTurns(project, "b1");
    expect(turn?.error).not.toBeNull();
    expect(turn?.terminalMessageSeq).not.toBeNull();
  });
});

test("a tool that says nothing for longer than the limit of silence is no stall, and status names it", async () => {
  await using project = await makeProject({
    config: stalling,
    scenario: `
- do:
    - shell: until [ -e "$HOME/go" ]; do sleep 0.2; done
    - ov: ${done("it is there")}
`,
  });
  await slingNew(project, "B1");
  await project.until("status named the tool", async () =>
    /runs \w+: until .* \(started \d+s ago\)/.test((await project.ov("status")).out),
  );
  const shown = { doing: { summary: expect.stringContaining("until [ -e"), since: expect.any(String) } };
  expect((await project.json("status")).agents).toMatchObject([shown]);
  writeFileSync(join(project.home, "go"), "");
  await untilAgent(project, "b1", "completed/done");
  expect(await ranTurns(project, "b1")).toMatchObject([{ clean: true }]);
}, 120_000);

test("a tool that never ends is noticed by its own limit", async () => {
  await using project = await makeProject({
    config: "turn:\n  stallTimeoutMs: 4000\n  toolTimeoutMs: 7000\n",
    scenario: `
- when: { turn: 1 }
  do: [{ shell: "sleep 600" }]
- do: [{ ov: ${done("it is there")} }]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const [first] = await ranTurns(project, "b1");
  expect(first).toMatchObject({ clean: false, error: "stalled" });
  expect((first?.endedAt ?? 0) - (first?.startedAt ?? 0)).toBeGreaterThan(7000);
}, 120_000);

test("a program that says its turn is over and then does not leave is ended long before it stalls, and not run again", async () => {
  const over = JSON.stringify({ type: "result", subtype: "success", is_error: false, result: "all is well" });
  await using project = await makeProject({
    config: `agents:\n  continuePrompts: 0\n`,
    scenario: `
- do:
    - say: nearly there
    - malformed: '${over}'
    - hang: true
`,
  });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  expect(await ranTurns(project, "b1")).toMatchObject([{ clean: true, error: null, resultText: "all is well" }]);
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "no_signal" });
  await project.until("every process had ended", async () => project.processes().length === 0);
  expect(startsOf(project, "b1")).toHaveLength(1);
});

test("terminal mail belongs to the turn that was running when it was stored, whatever its time says", async () => {
  await using project = await makeProject({
    config: "agents:\n  continuePrompts: 0\n",
    scenario: `
- when: { turn: 3 }
  do:
    - touch: "\${env.HOME}/sent3"
    - waitFor: { file: "\${env.HOME}/go3" }
- do:
    - edit: { file: work.txt, append: "more\\n" }
    - commit: more
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, "turn \${turn}"]
    - touch: "\${env.HOME}/sent\${turn}"
    - waitFor: { file: "\${env.HOME}/go\${turn}" }
`,
  });
  const again = (body: string) =>
    project.json("mail", "send", "--to", "b1", "--type", "dispatch", "--subject", "More", "--body", body);
  const reports = () => project.read((tx) => tx.messages.list({ from: "b1", type: "worker_done" }));
  await slingNew(project, "B1");
  await untilFile(project, "sent1");
  const [first] = await reports();
  // A clock may have been wrong when it was sent.
  setReportTimes(project, 1_000);
  await letGo(project, "go1");
  await untilAgent(project, "b1", "completed/done");
  expect(await ranTurns(project, "b1")).toMatchObject([{ terminalMessageSeq: first?.seq }]);

  await again("once more");
  await untilFile(project, "sent2");
  // Both reports of one moment, and that moment long before the turn.
  setReportTimes(project, 1_000);
  await letGo(project, "go2");
  await untilAgent(project, "b1", "completed/done");
  const [second] = await reports();
  expect(second?.seq).toBeGreaterThan(first?.seq ?? 0);
  expect(await ranTurns(project, "b1")).toMatchObject([{ terminalMessageSeq: second?.seq }]);

  await again("and once more");
  await untilFile(project, "sent3");
  // Older mail that seems to come from this very moment finishes nothing.
  setReportTimes(project, Date.now());
  await letGo(project, "go3");
  await untilAgent(project, "b1", "completed/no_signal", "completed/done");
  expect(await project.agent("b1")).toMatchObject({ generation: 3, outcome: "no_signal" });
});

function setReportTimes(project: TestProject, at: number): void {
  using database = rawDatabase(project, "write");
  database.run("UPDATE messages SET created_at = ? WHERE type = 'worker_done'", [at]);
}

test("a turn that has ended leaves no lease behind, however it ended", async () => {
  await using project = await makeProject({
    scenario: `
- when: { turn: 1 }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?] }]
- when: { turn: 2 }
  do: [{ exit: 1 }]
`,
  });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  await project.json("mail", "send", "--to", "b1", "--subject", "go", "--body", "go", "--wake");
  await untilTurns(project, "b1", 2);
  const db = rawDatabase(project, "read");
  const left = db.query("SELECT name FROM leases WHERE name LIKE 'turn:%'").all();
  db.close();
  expect(left).toEqual([]);
});
