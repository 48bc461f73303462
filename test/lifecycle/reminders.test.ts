import { expect, test } from "bun:test";
import { deathNotices, ranTurns, slingNew, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Every odd turn ends without a word; every reminder makes it ask, and the last one makes it finish. */
const forgetful = `
- when: { turn: 6 }
  do: [{ ov: [mail, send, --to, operator, --type, worker_done, --subject, d, --body, d] }]
- when: { input: neither finished }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "what \${turn}?"] }]
- do: [{ say: hm }]
`;

const answer = async (project: TestProject): Promise<void> => {
  const asked = await project.read((tx) => tx.messages.list({ from: "b1", type: "question" }));
  const newest = asked.toSorted((a, b) => b.seq - a.seq)[0];
  await project.json("mail", "reply", newest?.id ?? "", "--body", `this: ${newest?.subject}`);
};

test("an agent that heeds each reminder may need one again later; only those in a row are counted", async () => {
  await using project = await makeProject({ scenario: forgetful });
  await slingNew(project, "B1");
  for (const turns of [2, 4]) {
    await untilTurns(project, "b1", turns);
    await answer(project);
  }
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
  const triggers = (await ranTurns(project, "b1")).map(({ trigger }) => trigger);
  expect(triggers).toEqual(["mail", "reminder", "mail", "reminder", "mail", "reminder"]);
  expect(await deathNotices(project, "b1")).toEqual([]);
}, 60_000);

test("a generation that a person asked for has its reminders again; one that mail reopened has only what was left", async () => {
  await using project = await makeProject({ scenario: "- do: [{ say: hm }]\n" });
  await slingNew(project, "B1");
  const triggersOf = async (generation: number): Promise<string[]> => {
    await project.until(`generation ${generation} had ended`, async () => {
      const agent = await project.agent("b1");
      return agent.generation === generation && agent.outcome === "no_signal";
    });
    return (await ranTurns(project, "b1")).map(({ trigger }) => trigger);
  };
  expect(await triggersOf(1)).toEqual(["mail", "reminder", "reminder"]);
  await project.json("recover", "b1");
  expect(await triggersOf(2)).toEqual(["mail", "reminder", "reminder"]);
  await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "So", "--body", "what now?");
  expect(await triggersOf(3)).toEqual(["mail"]);
  expect((await project.ov("attach", "b1")).code).toBe(0);
  // The first turn after the person left is the one that the person's stay held back.
  expect(await triggersOf(4)).toEqual(["reminder", "reminder", "reminder"]);
}, 120_000);
