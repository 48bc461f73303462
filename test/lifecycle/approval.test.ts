import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { slingNew, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const decisions = async (project: TestProject): Promise<unknown> => (await project.json("inbox", "--peek")).decisions;

const byDone = `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [done, --summary, All done]
`;
const byMail = `
- do:
    - edit: { file: a.txt, write: "a\\n" }
    - commit: work
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: B1", --body, it is there]
`;

for (const [how, scenario] of [
  ["by ov done", byDone],
  ["by mail", byMail],
] as const) {
  test(`work that an agent of the operator reports ${how} is one approval in the inbox, with its command`, async () => {
    await using project = await makeProject({ gates: ["test -e a.txt"], scenario });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "completed/done");
    const branch = "overstory/b1/B1";
    expect(await decisions(project)).toMatchObject([
      { id: "merge:1", subject: `land ${branch}?`, options: ["approve", "reject"] },
    ]);
    const shown = await project.ov("inbox", "--peek");
    for (const command of ["ov merge diff 1", "ov decide merge:1 approve", "ov decide merge:1 reject --note"]) {
      expect(shown.out).toContain(command);
    }
    expect(shown.out).toContain("The gates on this commit: verified.");
    expect((await project.json("run", "show")).run).toMatchObject({ status: "needs operator" });
    expect(await project.read((tx) => tx.waits.of("b1"))).toMatchObject([{ kind: "approval", ref: "merge:1" }]);
    const dry = await project.json("merge", "--branch", branch, "--dry-run");
    expect(dry.verdict).toBe("verified");
    expect((await project.json("merge", "list")).entries).toMatchObject([{ verdict: dry.verdict }]);
    expect(await project.read((tx) => tx.merges.get(1))).toMatchObject({ filesModified: ["a.txt"] });
    await project.json("decide", "merge:1", "approve");
    await project.until(
      "it had landed",
      async () => (await project.read((tx) => tx.merges.get(1)))?.status === "merged",
    );
    expect(await decisions(project)).toEqual([]);
    expect(await project.read((tx) => tx.merges.list({}))).toMatchObject([{ filesModified: ["a.txt"] }]);
  }, 120_000);
}

test("an agent of the operator that brought nothing to land asks for nothing", async () => {
  await using project = await makeProject({
    scenario: `
- do:
    - ov: [done, --no-code, --summary, nothing to do]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  expect(await decisions(project)).toEqual([]);
  expect(await project.read((tx) => tx.merges.list({}))).toEqual([]);
}, 120_000);

const sameFile = `
- when: { turn: 1 }
  do:
    - edit: { file: a.txt, write: "\${agent}\\n" }
    - commit: work
    - ov: [done, --summary, All done]
- do:
    - shell: ov done --summary again >"$HOME/same" 2>&1
      expect: 4
    - edit: { file: other.txt, write: "more\\n" }
    - commit: more, and no word about the conflict
    - shell: ov done --summary again >"$HOME/newer" 2>&1
      expect: 4
    - shell: git config merge.ff only && eval "$(grep -o 'git merge[^,]*' "$HOME/newer")"
      expect: 1
    - edit: { file: a.txt, write: "both\\n" }
    - commit: settled
    - ov: [done, --summary, settled]
`;

test("a branch that was sent back for a conflict is not done before the conflict is settled, by a command that the user's settings allow", async () => {
  await using project = await makeProject({ gates: ["true"], files: { "a.txt": "base\n" }, scenario: sameFile });
  for (const task of ["B1", "B2"]) await slingNew(project, task);
  for (const name of ["b1", "b2"]) await untilAgent(project, name, "completed/done");
  await project.json("merge", "--branch", "overstory/b1/B1");
  expect((await project.ov("merge", "--branch", "overstory/b2/B2")).code).not.toBe(0);
  await untilTurns(project, "b2", 1);
  await project.until("it had answered", async () => (await checksOf(project, "b2")).length > 0);
  const conflict = { status: "failed", problem: [{ kind: "conflict", names: ["a.txt"] }] };
  await project.until("the settled work was accepted", async () => (await checksOf(project, "b2")).length > 2);
  expect(await checksOf(project, "b2")).toMatchObject([conflict, conflict, { status: "done" }]);
  expect(await project.read((tx) => tx.merges.list({ branch: "overstory/b2/B2" }))).toHaveLength(2);
  await project.json("merge", "--branch", "overstory/b2/B2");
}, 120_000);

const checksOf = async (project: TestProject, name: string) => {
  const { id, generation } = await project.agent(name);
  const checks = generation === 1 ? [] : await project.read((tx) => tx.checks.completionsOf(id));
  return checks.filter(({ status }) => status === "done" || status === "failed");
};

test("the question about a branch says where it collides with what has landed", async () => {
  const scenario = `
- when: { agent: b2 }
  do:
    - waitFor: { file: ../../landed, timeoutMs: 100000 }
    - edit: { file: a.txt, write: "b2\\n" }
    - commit: work
    - shell: ov done --summary "All done"
      expect: 4
    - ov: [done, --summary, All done]
${byDone}`;
  await using project = await makeProject({ gates: ["true"], files: { "a.txt": "base\n" }, scenario });
  await landedUnderB2(project);
  const says = expect.stringContaining("it conflicts with overstory/integration");
  expect(await decisions(project)).toMatchObject([{ id: "merge:2", context: says }]);
  expect((await project.ov("inbox", "--peek")).out).toContain("in a.txt");
}, 120_000);

/** The work of b1 lands while b2 works in the same file. */
async function landedUnderB2(project: TestProject): Promise<void> {
  for (const task of ["B1", "B2"]) await slingNew(project, task);
  await untilAgent(project, "b1", "completed/done");
  await project.until("b2 had its place", async () => (await project.agent("b2")).worktreePath !== null);
  await project.json("merge", "--branch", "overstory/b1/B1");
  const { worktreePath } = await project.agent("b2");
  writeFileSync(join(worktreePath ?? "", "../../landed"), "");
  await untilAgent(project, "b2", "completed/done");
}

test("B9: an agent whose work conflicts with what landed is told so when it finishes, and settles it in the same turn", async () => {
  const scenario = `
- when: { agent: b2 }
  do:
    - waitFor: { file: ../../landed, timeoutMs: 100000 }
    - edit: { file: a.txt, write: "b2\\n" }
    - commit: work
    - shell: ov done --summary "All done" >"$HOME/refused" 2>&1
      expect: 4
    - shell: eval "$(grep -o 'git merge[^,]*' "$HOME/refused")"
      expect: 1
    - edit: { file: a.txt, write: "both\\n" }
    - commit: settled
    - ov: [done, --summary, settled]
${byDone}`;
  await using project = await makeProject({ gates: ["true"], files: { "a.txt": "base\n" }, scenario });
  await landedUnderB2(project);
  const { id } = await project.agent("b2");
  const checks = await project.read((tx) => tx.checks.completionsOf(id));
  expect(checks).toMatchObject([{ status: "failed", problem: [{ kind: "conflict" }] }, { status: "done" }]);
  expect(await project.read((tx) => tx.turns.listFor(id))).toHaveLength(1);
  await project.json("merge", "--branch", "overstory/b2/B2");
}, 120_000);

test("an agent that failed, was recovered and whose work landed raises no alarm any more", async () => {
  await using project = await makeProject({
    gates: ["test -e a.txt"],
    scenario: `
- when: { attempt: 1 }
  do: [{ fail: login }]
${byDone}`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "zombie/crashed");
  expect((await project.ov("inbox", "--peek")).out).toContain("1 agent in trouble");
  await project.json("recover", "b1");
  await untilAgent(project, "b1", "completed/done");
  await project.json("decide", "merge:1", "approve");
  await project.until("it was let go", async () => (await project.agent("b1")).releasedAt !== null);
  expect((await project.json("status")).agents).toEqual([]);
  const { troubled, messages } = await project.json("inbox", "--peek");
  expect(troubled).toEqual([]);
  expect((messages as { type: string }[]).filter(({ type }) => type === "decision_gate")).toEqual([]);
}, 120_000);
