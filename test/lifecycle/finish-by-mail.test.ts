import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Message } from "../../src/domain/mail/types.ts";
import { deathNotices, eventsOf, ranTurns, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** What the agent's commands were answered, as it wrote them down. */
const answers = ({ home }: TestProject, name: string): string => readFileSync(join(home, name), "utf8");

const reports = (project: TestProject, from = "b1"): Promise<Message[]> =>
  project.read((tx) => tx.messages.list({ from, type: "worker_done" }));

const refusedKinds = async (project: TestProject): Promise<string[][]> =>
  (await eventsOf(project, "completion_refused")).map(({ data }) =>
    (JSON.parse(data ?? "{}").problem as { kind: string }[]).map(({ kind }) => kind),
  );

const mailDone = 'ov mail send --to operator --type worker_done --subject "Dates parsed" --body "All of it"';

test("L7: worker_done by mail is refused as ov done is, and sends nothing before the work is proven", async () => {
  await using project = await makeProject({
    gates: ["echo looking for ok; test -e ok || test ! -e a.txt"],
    scenario: `
- do:
    - { shell: '${mailDone} >"$HOME/nothing" 2>&1', expect: 5 }
    - edit: { file: a.txt, write: "a\\n" }
    - { shell: '${mailDone} >"$HOME/dirty" 2>&1', expect: 5 }
    - commit: "dates: parse them"
    - { shell: '${mailDone} >"$HOME/red" 2>&1', expect: 5 }
    - edit: { file: ok, write: "" }
    - commit: mended
    - { shell: '${mailDone} --priority high --payload "{\\"note\\":\\"see a.txt\\",\\"receiptId\\":\\"forged\\"}" --json >"$HOME/green"' }
    - { shell: '${mailDone} >"$HOME/again" 2>&1' }
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  expect(answers(project, "nothing")).toContain("there is no commit on the branch");
  expect(answers(project, "dirty")).toContain("there are changes that no commit holds");
  expect(answers(project, "red")).toContain("the gate gate-1 exited 1");
  expect(answers(project, "red")).toContain("looking for ok");
  expect(answers(project, "again")).toContain("accepted and reported");
  expect(await refusedKinds(project)).toEqual([["no-commits"], ["uncommitted", "no-commits"], ["gate"]]);
  const [report, ...more] = await reports(project);
  expect(more).toEqual([]);
  expect(report).toMatchObject({ subject: "Dates parsed", priority: "high", address: "operator" });
  expect(report?.body).toStartWith("All of it\n\nChecked by the engine");
  const payload = JSON.parse(report?.payload ?? "{}");
  expect(payload).toMatchObject({ note: "see a.txt", verified: true, verdict: "verified", exitCode: 0 });
  expect(payload).not.toHaveProperty("unverified");
  expect(await project.read((tx) => tx.receipts.get(payload.receiptId))).toMatchObject({ kind: "completion" });
  const said = JSON.parse(answers(project, "green"));
  expect(said).toMatchObject({ success: true, id: report?.id, recipients: ["operator"], status: "done", passed: true });
}, 120_000);

test("a scout's result to its parent ends it and closes its task; a report to anybody else is refused", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: s2 }
  do:
    - { mcp: { tool: send, arguments: { to: operator, type: worker_done, subject: Seen, body: looked } }, expect: Finished }
- do:
    - { shell: 'ov mail send --to s2 --type worker_done --subject Seen --body looked >"$HOME/stranger" 2>&1', expect: 8 }
    - ov: [mail, send, --to, operator, --type, result, --subject, Seen, --body, nothing surprising]
`,
  });
  for (const name of ["s2", "s1"]) {
    await project.json("task", "create", `look as ${name}`, "--id", name.toUpperCase());
    await project.json("sling", name.toUpperCase(), "--capability", "scout", "--name", name);
    await untilAgent(project, name, "completed/done", "completed/no_signal");
    expect(await project.agent(name)).toMatchObject({ outcome: "done" });
    expect(await project.read((tx) => tx.tasks.get(name.toUpperCase()))).toMatchObject({ status: "closed" });
    const [report, ...more] = await reports(project, name);
    expect(more).toEqual([]);
    expect(report).toMatchObject({ subject: "Seen", address: "operator" });
  }
  expect(answers(project, "stranger")).toContain("reported to your parent: use --to operator");
}, 120_000);

test("a report by mail whose command is killed goes on: the agent ends with it, and with its words", async () => {
  await using project = await makeProject({
    gates: ['touch "$HOME/gate"; until [ -e "$HOME/open" ]; do sleep 0.05; done'],
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - shell: '${mailDone} & asked=$!; until [ -e "$HOME/gate" ]; do sleep 0.05; done; kill -9 $asked'
`,
  });
  await slingNew(project, "B1");
  await untilFile(project, "gate");
  await project.until("its turn was over", async () => (await ranTurns(project, "b1"))[0]?.status === "settled");
  expect(await project.agent("b1")).toMatchObject({ state: "between_turns" });
  await Bun.write(join(project.home, "open"), "");
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  const [report, ...more] = await reports(project);
  expect(more).toEqual([]);
  expect(report).toMatchObject({ subject: "Dates parsed" });
  expect(await ranTurns(project, "b1")).toHaveLength(1);
}, 120_000);

test("mail to a working agent is shown before its report by mail is accepted", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - touch: "\${env.HOME}/working"
    - waitFor: { file: "\${env.HOME}/go" }
    - { shell: '${mailDone} >"$HOME/first" 2>&1', expect: 5 }
    - { shell: '${mailDone} >"$HOME/second" 2>&1' }
`,
  });
  await slingNew(project, "B1");
  await untilFile(project, "working");
  await project.json("mail", "send", "--to", "b1", "--subject", "Dates", "--body", "Use UTC");
  await Bun.write(join(project.home, "go"), "");
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  expect(answers(project, "first")).toContain("| Use UTC");
  expect(answers(project, "second")).toContain("accepted and reported");
  expect(await ranTurns(project, "b1")).toHaveLength(1);
}, 120_000);

test("an agent whose report by mail was refused, and that said nothing more, is reported with what it lacked", async () => {
  await using project = await makeProject({
    config: "agents:\n  continuePrompts: 1\n",
    scenario: `
- when: { turn: 1 }
  do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: "dates: parse them"
    - edit: { file: b.txt, write: "b\\n" }
    - { shell: '${mailDone}', expect: 5 }
- do: [{ say: hm }]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  const [notice, ...more] = await deathNotices(project, "b1");
  expect(more).toEqual([]);
  expect(notice?.body).toContain("its last finish (ov done) was refused (there are changes that no commit holds)");
  expect(notice?.body).toContain("It leaves 1 commit on overstory/b1/B1");
  expect(notice?.body).toContain("Uncommitted changes are in its worktree");
  expect(await reports(project)).toEqual([]);
}, 120_000);
