import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ranTurns, slingNew, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Works until it is let go, then finishes as the steps say. */
const working = (...steps: string[]): string =>
  [
    "",
    "- when: { turn: 1 }",
    "  do:",
    '    - edit: { file: a.txt, write: "a\\n" }',
    "    - commit: work",
    `    - touch: "\${env.HOME}/working"`,
    `    - waitFor: { file: "\${env.HOME}/go" }`,
    ...steps.map((step) => `    - ${step}`),
    "- do: [{ say: hm }]",
    "",
  ].join("\n");

const letGo = ({ home }: TestProject): Promise<unknown> => Bun.write(join(home, "go"), "");

const said = ({ home }: TestProject, name: string): string => {
  const path = join(home, name);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

const tell = async (project: TestProject, body: string, ...flags: string[]): Promise<string> => {
  const words = ["mail", "send", "--to", "b1", "--subject", "Dates", "--body", body, ...flags];
  return String((await project.json(...words)).id);
};

const stateOf = async (project: TestProject, id: string) =>
  project.read(async (tx) => {
    const message = await tx.messages.get(id);
    return tx.deliveries.get(message?.seq ?? 0, "b1");
  });

test("L4: mail to a working agent is shown in full before it can finish, and its second finish goes through", async () => {
  await using project = await makeProject({
    scenario: working(
      '{ shell: ov done --summary Work >"$HOME/first" 2>&1, expect: 5 }',
      '{ shell: ov done --summary "In UTC" >"$HOME/second" 2>&1 }',
    ),
  });
  await slingNew(project, "B1");
  await untilFile(project, "working");
  const counting = await tell(project, "Use UTC\nand say so");
  const informing = await tell(project, "I am back", "--type", "status");
  expect((await project.ov("mail", "why", counting)).out).toContain("is shown it before it can finish");
  await letGo(project);
  await untilAgent(project, "b1", "completed/done");
  for (const words of ["mail came while you worked: 2 messages", "| Use UTC\n| and say so", "| I am back"])
    expect(said(project, "first")).toContain(words);
  expect(said(project, "second")).toContain("accepted and reported");
  const [turn, ...more] = await ranTurns(project, "b1");
  expect(more).toEqual([]);
  for (const id of [counting, informing])
    expect(await stateOf(project, id)).toMatchObject({ state: "acked", channel: "finish", turnId: turn?.id ?? "" });
  const [report] = await project.read((tx) => tx.messages.list({ from: "b1", type: "worker_done" }));
  expect(report?.body).toStartWith("In UTC");
}, 120_000);

test("L4: mail that comes while the gates run is shown before the work is accepted", async () => {
  await using project = await makeProject({
    gates: ['touch "$HOME/gate"; until [ -e "$HOME/open" ]; do sleep 0.05; done'],
    scenario: working(
      '{ shell: ov done --summary Work >"$HOME/first" 2>&1, expect: 5 }',
      '{ shell: ov done --summary Work >"$HOME/second" 2>&1 }',
    ),
  });
  await slingNew(project, "B1");
  await letGo(project);
  await untilFile(project, "gate");
  await tell(project, "Use UTC");
  await Bun.write(join(project.home, "open"), "");
  await untilAgent(project, "b1", "completed/done");
  expect(said(project, "first")).toContain("| Use UTC");
  expect(said(project, "second")).toContain("accepted and reported");
}, 120_000);

test("L4: the tool finish shows the mail too, and counts it as read once it was sent", async () => {
  await using project = await makeProject({
    scenario: working(
      "{ mcp: { tool: finish, arguments: { summary: Work } }, allowFail: true, expect: Use UTC }",
      "{ mcp: { tool: finish, arguments: { summary: Work } }, expect: Finished }",
    ),
  });
  await slingNew(project, "B1");
  await untilFile(project, "working");
  const id = await tell(project, "Use UTC");
  await letGo(project);
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
  expect(await stateOf(project, id)).toMatchObject({ state: "acked", channel: "finish" });
}, 120_000);

test("L4: mail that a killed finish took and never showed comes with the next turn", async () => {
  await using project = await makeProject({
    scenario: [
      "- when: { turn: 1 }",
      "  do:",
      `    - touch: "\${env.HOME}/working"`,
      `    - waitFor: { file: "\${env.HOME}/go" }`,
      '    - { shell: "ov done --no-code --summary Work >/dev/full", allowFail: true }',
      "- when: { input: Use UTC }",
      "  do: [{ ov: [done, --no-code, --summary, Seen] }]",
      "- do: [{ say: hm }]",
      "",
    ].join("\n"),
  });
  await slingNew(project, "B1");
  await untilFile(project, "working");
  const id = await tell(project, "Use UTC");
  await letGo(project);
  await untilAgent(project, "b1", "completed/done", "completed/no_signal");
  expect(await project.agent("b1")).toMatchObject({ outcome: "done" });
  const turns = await ranTurns(project, "b1");
  expect(turns.map(({ trigger }) => trigger)).toEqual(["mail", "mail"]);
  expect(await stateOf(project, id)).toMatchObject({ state: "acked", turnId: turns[1]?.id ?? "" });
}, 120_000);
