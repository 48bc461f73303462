import { expect, test } from "bun:test";
import {
  letGo,
  promptsOf,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilFile,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

const asks = `{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "which? \${turn}"] }`;

test("more mail than one turn takes is read in the next, without anybody writing again", async () => {
  await using project = await makeProject({
    scenario: `
- when: { turn: 1 }
  do: [{ touch: "\${env.HOME}/busy" }, { waitFor: { file: "\${env.HOME}/go" } }, ${asks}]
- do: [${asks}]
`,
  });
  await slingNew(project, "B1");
  await untilFile(project, "busy");
  const send = (subject: string, body: string) =>
    project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", subject, "--body", body);
  for (let number = 1; number <= 52; number++) await send(`note ${number}`, `body ${number}`);
  await letGo(project);
  await untilTurns(project, "b1", 3);
  await project.settled();
  const [, second = "", third = ""] = promptsOf(project, "b1");
  expect(second).toContain("You have 50 messages.");
  expect(third).toContain("You have 2 messages.");
  expect(await project.read((tx) => tx.deliveries.countQueued("b1"))).toBe(0);
  expect(startsOf(project, "b1")).toHaveLength(3);
}, 180_000);

test.each([
  ["a nudge", ["nudge", "b1", "are you there?"]],
  ["mail", ["mail", "send", "--to", "b1", "--subject", "Wait", "--body", "are you there?"]],
])(
  "%s that comes after an agent has finished, and before its turn has ended, goes back to its sender",
  async (_, words) => {
    await using project = await makeProject({
      scenario: `
- do:
    - ov: [done, --no-code, --reason, nothing to do, --summary, d]
    - touch: "\${env.HOME}/busy"
    - waitFor: { file: "\${env.HOME}/go" }
`,
    });
    await slingNew(project, "B1");
    await untilFile(project, "busy");
    await project.json(...words);
    await letGo(project);
    await untilAgent(project, "b1", "completed/done");
    expect(await ranTurns(project, "b1")).toHaveLength(1);
    expect(await project.read((tx) => tx.deliveries.countQueued("b1"))).toBe(0);
    const [returned] = await project.read((tx) => tx.messages.list({ from: "system", to: "operator" }));
    expect(returned).toMatchObject({
      subject: expect.stringContaining("Returned: b1 finished before it read"),
      body: expect.stringContaining("are you there?"),
    });
  },
  120_000,
);
