import { expect, test } from "bun:test";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A lead that slings one builder and otherwise does nothing; the tests write to the builder as the operator. */
const scenario = `
- when: { capability: lead, turn: 1 }
  do:
    - ov: [sling, B, --name, b1]
- when: { capability: lead, turn: 2 }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, Next, --body, what next]
- when: { capability: lead }
  do: [{ say: noted }]
- when: { agent: b1, turn: 1 }
  do:
    - edit: { file: work.txt, write: "first\\n" }
    - commit: first try
    - ov: [mail, send, --to, lead1, --type, worker_done, --subject, "Done: B", --body, first try]
- when: { agent: b1, turn: 2 }
  do:
    - input: { expect: please mend it }
    - edit: { file: work.txt, write: "second\\n" }
    - commit: second try
    - ov: [mail, send, --to, lead1, --type, worker_done, --subject, "Done: B", --body, second try]
- when: { agent: b1 }
  do: [{ say: again }]
`;

async function withSubmittedBuilder(): Promise<TestProject> {
  const project = await makeProject({ scenario });
  await project.json("task", "create", "Lead", "--id", "L");
  await project.json("task", "create", "Build", "--id", "B");
  await project.json("sling", "L", "--capability", "lead", "--name", "lead1");
  await project.until(
    "the builder submitted",
    async () => (await project.read((tx) => tx.agents.byName("b1")))?.state === "completed",
  );
  await project.settled();
  return project;
}

const failed =
  '{"verdict":"fail","branch":"overstory/b1/B","commit":"HEAD","findings":[{"file":"work.txt","severity":"error","text":"wrong"}]}';

test("a failed review reopens the builder in the same worktree and conversation, as its next generation", async () => {
  await using project = await withSubmittedBuilder();
  const first = await project.agent("b1");
  expect(first).toMatchObject({ generation: 1, outcome: "done", ahead: 1, dirty: false });
  await project.json(
    "mail",
    "send",
    "--to",
    "b1",
    "--type",
    "review",
    "--subject",
    "Review",
    "--body",
    "please mend it",
    "--payload",
    failed,
  );
  await project.until("it finished again", async () => {
    const agent = await project.agent("b1");
    return agent.generation === 2 && agent.state === "completed";
  });
  const second = await project.agent("b1");
  expect(second).toMatchObject({
    outcome: "done",
    revivals: 1,
    worktreePath: first.worktreePath,
    branch: first.branch,
    ahead: 2,
  });
  expect(second.providerSessionId).toBe(first.providerSessionId);
  expect(await project.git("show", "overstory/b1/B:work.txt")).toBe("second\n");
  expect(await project.read((tx) => tx.agents.get(first.id))).toMatchObject({ state: "completed", outcome: "done" });
}, 60_000);

test("thanks do not reopen it: composed mail to a submitted agent is refused with what would", async () => {
  await using project = await withSubmittedBuilder();
  const answer = await project.ov("mail", "send", "--to", "b1", "--subject", "Thanks", "--body", "well done");
  expect(answer.code).toBe(2);
  expect(answer.err).toContain("--type dispatch");
  expect((await project.agent("b1")).generation).toBe(1);
}, 60_000);

test("a name is reopened at most five times", async () => {
  await using project = await withSubmittedBuilder();
  for (let i = 0; i < 6; i++) {
    const sent = await project.ov(
      "mail",
      "send",
      "--to",
      "b1",
      "--type",
      "question",
      "--subject",
      `q${i}`,
      "--body",
      `please mend it ${i}`,
    );
    if (i < 5) expect(sent.code).toBe(0);
    else expect(sent.code).toBe(2);
    if (i < 5) {
      await project.until("it ended again", async () => {
        const agent = await project.agent("b1");
        return agent.generation === i + 2 && agent.state === "completed";
      });
    }
  }
}, 240_000);

test("a reopened builder's lead waits for it again", async () => {
  await using project = await withSubmittedBuilder();
  const children = async () =>
    (await project.read((tx) => tx.waits.of("lead1"))).filter((wait) => wait.kind === "child");
  expect(await children()).toEqual([]);
  // No engine is there, and nobody who would start one.
  await project.until("every process had ended", async () => project.processes().length === 0);
  const kill = { OVERSTORY_TEST_KILL_AT: "command.before-wake" };
  const dispatch = [
    "mail",
    "send",
    "--to",
    "b1",
    "--type",
    "dispatch",
    "--subject",
    "More",
    "--body",
    "please mend it",
  ];
  expect((await project.ovWith({ env: kill }, ...dispatch)).code).toBe(137);
  expect(await children()).toMatchObject([{ ref: "b1" }]);
  await project.json("status");
  await project.until("it submitted again", async () => (await children()).length === 0);
}, 60_000);
