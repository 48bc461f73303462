import { expect, test } from "bun:test";
import { deathNotices, promptsOf, ranTurns, slingNew, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const patient = `
- when: { turn: 1 }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "Go on?", --body, "the other part is not there"] }]
- when: { input: waits for U1 no longer }
  do: [{ ov: [done, --no-code, --reason, r, --summary, d] }]
- do: [{ say: I wait for U1 }]
`;

/** An agent is at work when its task turns out to need another one, and ends its turn to wait for that. */
async function waiting(): Promise<TestProject> {
  const project = await makeProject({ scenario: patient });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  await project.json("task", "create", "The other part", "--id", "U1");
  await project.json("task", "dep", "add", "B1", "U1");
  const [question] = await project.read((tx) => tx.messages.list({ from: "b1", type: "question" }));
  await project.json("mail", "reply", question?.id ?? "", "--body", "wait for U1");
  await untilTurns(project, "b1", 2);
  await untilAgent(project, "b1", "between_turns");
  return project;
}

test("an agent whose task waits for another may wait without being reminded, and goes on when that is closed", async () => {
  await using project = await waiting();
  expect(promptsOf(project, "b1")[1]).toContain("Your task depends on U1: The other part");
  expect((await project.ov("status")).out).toContain("waits for task U1 to be closed");
  await project.json("task", "close", "U1");
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
  expect((await ranTurns(project, "b1")).map(({ trigger }) => trigger)).toEqual(["mail", "mail", "mail"]);
  expect(promptsOf(project, "b1")[2]).toContain("U1 is closed: The other part");
  expect(await deathNotices(project, "b1")).toEqual([]);
  expect((await project.ov("doctor")).out).toContain(" 0 failed");
}, 60_000);

for (const command of [
  ["dep", "rm", "B1", "U1"],
  ["drop", "U1", "--reason", "not wanted"],
]) {
  test(`it goes on too after ov task ${command[0]}`, async () => {
    await using project = await waiting();
    await project.json("task", ...command);
    await untilAgent(project, "b1", "completed/done", "completed/no_signal");
    expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
  }, 60_000);
}
