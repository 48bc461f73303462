import { expect, test } from "bun:test";
import { eventsOf, promptsOf, slingNew, startsOf, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

test("the conversation is resumed turn by turn, and one that comes back under another id is put on record", async () => {
  await using project = await makeProject({
    scenario: `
- when: { turn: 2 }
  do:
    - newSessionId: true
    - ov: [mail, send, --to, operator, --type, question, --subject, q2, --body, second]
- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "question \${turn}"] }]
`,
  });
  await slingNew(project, "B1");
  const sessions: (string | null)[] = [];
  for (const turn of [1, 2, 3]) {
    await untilTurns(project, "b1", turn);
    sessions.push((await project.agent("b1")).providerSessionId);
    const [question] = await project.read((tx) => tx.messages.list({ from: "b1", type: "question" }));
    if (turn < 3) await project.json("mail", "reply", question?.id ?? "", "--body", `answer ${turn}`);
  }
  const [first, second] = sessions;
  expect(first).not.toBe(second);
  const resumed = startsOf(project, "b1").map(({ argv }) => {
    const at = argv.indexOf("--resume");
    return at < 0 ? null : argv[at + 1];
  });
  expect(resumed).toEqual([null, first ?? "", second ?? ""]);
  const mismatches = await eventsOf(project, "resume_mismatch");
  expect(mismatches.map(({ data }) => JSON.parse(String(data)))).toEqual([
    { requestedSessionId: first, observedSessionId: second },
  ]);
}, 120_000);

test("a bare worker_done without commits is delivered flagged as unverified", async () => {
  await using project = await makeProject({
    scenario: "- do: [{ ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, trust me] }]\n",
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const [report] = await project.read((tx) => tx.messages.list({ from: "b1", type: "worker_done" }));
  expect(JSON.parse(report?.payload ?? "{}")).toMatchObject({ unverified: true, taskId: "B1" });
  expect((await project.ov("mail", "check")).out).toMatch(/unverified/i);
});

/** A lead that reads its builder's report while that still runs, and again after it ended. */
const bareReport = `
- when: { agent: l, turn: 1 }
  do: [{ ov: [sling, B1, --name, b1] }]
- when: { agent: l, input: trust me }
  do:
    - touch: "\${env.HOME}/go"
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, all of it]
- when: { agent: b1 }
  do:
    - edit: { file: half.txt, write: "half\\n" }
    - ov: [mail, send, --to, l, --type, worker_done, --subject, Done, --body, trust me]
    - waitFor: { file: "\${env.HOME}/go" }
    - commit: late
`;

test("the facts are told with it, to a reader who is faster than its sender's turn as they are by then", async () => {
  await using project = await makeProject({ scenario: bareReport });
  await project.json("task", "create", "B1", "--id", "B1");
  await slingNew(project, "L", "--capability", "lead");
  await untilAgent(project, "l", "completed/done");
  await untilAgent(project, "b1", "completed/done");
  const head = (await project.git("rev-parse", "main")).slice(0, 10);
  const told = promptsOf(project, "l").find((prompt) => prompt.includes("trust me"));
  expect(told).toContain(
    `unverified: 0 commits since ${head}, head ${head}, uncommitted changes in its worktree; no gate was run for it; its turn is still running`,
  );
  expect(await project.agent("b1")).toMatchObject({ ahead: 1, dirty: false });
});

test("a person reads the facts of the ended turn, whatever the report claims", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, it is all there]
    - edit: { file: a.txt, write: "a\\n" }
    - commit: a
    - edit: { file: b.txt, write: "b\\n" }
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const { headCommit } = await project.agent("b1");
  expect((await project.ov("mail", "check")).out).toContain(
    `head ${headCommit?.slice(0, 10)}, uncommitted changes in its worktree; no gate was run for it\n`,
  );
});

test("an agent that was reopened may report in the very words of its first report", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - edit: { file: work.txt, append: "more\\n" }
    - commit: more
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  await project.json("mail", "send", "--to", "b1", "--type", "dispatch", "--subject", "More", "--body", "once more");
  await project.until("it ended again", async () => {
    const { generation, state } = await project.agent("b1");
    return generation === 2 && state === "completed";
  });
  expect(await project.agent("b1")).toMatchObject({ outcome: "done", ahead: 2 });
  expect(startsOf(project, "b1")).toHaveLength(2);
}, 120_000);
