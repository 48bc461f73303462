import { expect, test } from "bun:test";
import { eventsOf, slingNew, startsOf, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
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
});

test("a bare worker_done without commits is delivered flagged as unverified", async () => {
  await using project = await makeProject({
    scenario: "- do: [{ ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, trust me] }]\n",
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const [report] = await project.read((tx) => tx.messages.list({ from: "b1", type: "worker_done" }));
  expect(JSON.parse(report?.payload ?? "{}")).toMatchObject({ unverified: true, taskId: "B1" });
  expect((await project.ov("mail", "check")).out).toContain("unverified");
});

test.todo(
  "the facts are told with it (commits, uncommitted files, gates): they are known only when the turn has settled",
);

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
});
