import { expect, test } from "bun:test";
import { deathNotices, promptsOf, ranTurns, slingNew, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Every odd turn ends without a word; every reminder makes it ask, and the last one makes it finish. */
const forgetful = `
- when: { turn: 6 }
  do: [{ ov: [done, --no-code, --summary, d] }]
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
  expect(await triggersOf(4)).toEqual(["nudge", "reminder", "reminder"]);
}, 120_000);

const silent = `
- when: { turn: 1 }
  do: [{ say: hm }]
- when: { turn: 2 }
  do: [{ edit: { file: a.txt, write: "a\\n" } }]
- when: { turn: 3 }
  do: [{ commit: "dates: parse them" }]
`;

test("L7: a reminder says to call finish, what is missing, and how to wait; then the parent hears that finish was never called", async () => {
  await using project = await makeProject({ scenario: silent });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/no_signal");
  const [, first = "", second = ""] = promptsOf(project, "b1");
  for (const words of [
    "- there is no commit on the branch",
    "call the tool finish, or type: ov done",
    "ov mail send --to operator --type question",
  ])
    expect(first).toContain(words);
  expect(first).not.toContain("no commit holds");
  expect(second).toContain("- there are changes that no commit holds");
  const [notice, ...more] = await deathNotices(project, "b1");
  expect(more).toEqual([]);
  expect(notice?.body).toContain("it never called finish (ov done), and was reminded 2 times");
  expect(notice?.body).toContain("It leaves 1 commit on overstory/b1/B1");
  expect(notice?.body).toContain('"dates: parse them"; no gate was run on them');
  expect(JSON.parse(notice?.payload ?? "{}")).toMatchObject({ outcome: "no_signal", commits: 1 });
  for (const command of ["status", "inbox"]) {
    const shown = (await project.ov(command)).out.replaceAll(/\s+/g, " ");
    expect(shown).toContain("it never called finish (ov done), and was reminded 2 times; it leaves 1 commit on");
  }
}, 120_000);

test("ov sling --wait=done of an agent that ends without a report ends with 9 and no success", async () => {
  await using project = await makeProject({ scenario: "- do: [{ say: hm }]" });
  await project.json("task", "create", "B1", "--id", "B1");
  const { code, out } = await project.ov("sling", "B1", "--name", "b1", "--wait=done", "--json");
  expect(code).toBe(9);
  expect(JSON.parse(out)).toMatchObject({ success: false, outcome: "no_signal", hint: "ov logs b1" });
}, 120_000);

test("L7: a reminded reviewer is told about its verdict, and a reminded lead about its open children", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: r1 }
  do: [{ say: hm }]
- when: { agent: b1 }
  do: [{ edit: { file: b.txt, write: "b\\n" } }, { commit: work }, { ov: [done, --summary, Work] }]
- when: { agent: l1, turn: 1 }
  do: [{ ov: [sling, B1, --capability, builder, --name, b1] }]
- when: { agent: l1 }
  do: [{ say: hm }]
`,
  });
  for (const id of ["R1", "L1", "B1"]) await project.json("task", "create", id, "--id", id);
  await project.json("sling", "R1", "--capability", "reviewer", "--name", "r1", "--force-hierarchy");
  await project.json("sling", "L1", "--capability", "lead", "--name", "l1");
  await untilAgent(project, "r1", "completed/no_signal");
  await untilAgent(project, "l1", "completed/no_signal");
  expect(promptsOf(project, "r1")[1]).toContain("- a reviewer ends with a verdict");
  expect(promptsOf(project, "l1").at(-1)).toContain("- overstory/b1/B1 of b1 was never handed over");
}, 120_000);

const detached = `
- when: { turn: 1 }
  do:
    - edit: { file: one.txt, write: "1\\n" }
    - commit: First half
    - shell: git checkout --quiet --detach
    - edit: { file: two.txt, write: "2\\n" }
    - commit: Second half
- do: [{ say: hm }]
`;

test("the parent of an agent that committed beside its branch hears what is on the branch and what is not", async () => {
  await using project = await makeProject({ scenario: detached });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/no_signal");
  const [notice] = await deathNotices(project, "b1");
  const { branch, headCommit } = await project.agent("b1");
  const tip = (await project.git("rev-parse", branch ?? "")).trim();
  expect(notice?.body).toContain(`It leaves 1 commit on ${branch} (${tip.slice(0, 10)}): "First half"`);
  expect(notice?.body).toContain(
    `1 commit of it is not on that branch, so landing the branch would leave it out: "Second half" (at ${headCommit?.slice(0, 12)}`,
  );
}, 60_000);

test("an agent that finished has its reminders again when mail reopens it", async () => {
  await using project = await makeProject({
    scenario: `
- when: { turn: 3 }
  do: [{ edit: { file: b.txt, write: "b\\n" } }, { commit: work }, { ov: [done, --summary, d] }]
- do: [{ say: hm }]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "So", "--body", "what now?");
  await untilAgent(project, "b1", "completed/no_signal");
  expect((await ranTurns(project, "b1")).map(({ trigger }) => trigger)).toEqual(["mail", "reminder", "reminder"]);
  const [notice] = await deathNotices(project, "b1");
  expect(notice?.body).toContain(
    "it never called finish (ov done) since it was started again, and was reminded 2 times",
  );
}, 120_000);
