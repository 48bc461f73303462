import { expect, test } from "bun:test";
import { eventsOf, promptsOf, slingNew, startsOf, untilAgent, untilFile, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

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

/** A lead that reads a report about its builder while the builder still runs. */
const reported = `
- when: { agent: l, turn: 1 }
  do: [{ ov: [sling, B1, --name, b1] }]
- when: { agent: l, input: trust me }
  do: [{ touch: "\${env.HOME}/go" }]
- when: { agent: b1 }
  do:
    - edit: { file: half.txt, write: "half\\n" }
    - touch: "\${env.HOME}/half"
    - waitFor: { file: "\${env.HOME}/go" }
    - commit: late
    - ov: [mail, send, --to, l, --type, question, --subject, q, --body, what next?]
`;

const reportFor = (project: TestProject, to: string) => {
  const words = ["--from", "b1", "--type", "worker_done", "--subject", "Done", "--body", "trust me"];
  return project.json("mail", "send", "--to", to, ...words);
};

test("a report that the operator writes in an agent's name is unverified, and told with the facts of that moment", async () => {
  await using project = await makeProject({ scenario: reported });
  await project.json("task", "create", "B1", "--id", "B1");
  await slingNew(project, "L", "--capability", "lead");
  await untilFile(project, "half");
  await reportFor(project, "l");
  await untilAgent(project, "b1", "between_turns");
  const head = (await project.git("rev-parse", "main")).slice(0, 10);
  const told = promptsOf(project, "l").find((prompt) => prompt.includes("trust me"));
  expect(told).toContain(
    `unverified: 0 commits since ${head}, head ${head}, uncommitted changes in its worktree; no gate was run for it; its turn is still running`,
  );
  await reportFor(project, "operator");
  const { headCommit } = await project.agent("b1");
  expect((await project.ov("mail", "check")).out).toContain(
    `head ${headCommit?.slice(0, 10)}, nothing uncommitted; no gate was run for it\n`,
  );
}, 120_000);

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

test("a conversation that is made shorter, and another model that answers, are on record and in the log", async () => {
  const line = (event: object) => `    - malformed: '${JSON.stringify(event)}'\n`;
  const fallback = { direction: "retry", original_model: "claude-opus-5-5", fallback_model: "claude-sonnet-5-5" };
  await using project = await makeProject({
    scenario: `
- do:
${line({ type: "system", subtype: "compact_boundary", compact_metadata: { trigger: "auto", pre_tokens: 180_000, post_tokens: 2500 } })}${line({ type: "system", subtype: "model_refusal_fallback", ...fallback })}    - say: Going on.
`,
  });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const [compacted, ...more] = await eventsOf(project, "compacted");
  expect(more).toEqual([]);
  expect(compacted).toMatchObject({ agentName: "b1", level: "info", part: 0 });
  // By its line it is stored once, however often the output is read.
  expect(compacted?.line).toBeNumber();
  expect(await eventsOf(project, "malformed_output")).toEqual([]);
  const [changed] = await eventsOf(project, "model_changed");
  expect(changed).toMatchObject({ agentName: "b1", level: "warn" });
  const { out } = await project.ov("logs", "b1");
  expect(out).toContain("- the conversation was compacted: 180k tokens before, 2500 tokens after");
  expect(out).toContain("! the model changed to claude-sonnet-5-5, before it was claude-opus-5-5");
}, 60_000);
