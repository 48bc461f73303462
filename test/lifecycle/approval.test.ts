import { expect, test } from "bun:test";
import { slingNew, untilAgent } from "../../testkit/lifecycle.ts";
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
    expect(shown.out).toContain(
      how === "by ov done" ? "The gates on this commit: verified." : "No gate has looked at this commit yet.",
    );
    expect((await project.json("run", "show")).run).toMatchObject({ status: "needs operator" });
    expect(await project.read((tx) => tx.waits.of("b1"))).toMatchObject([{ kind: "approval", ref: "merge:1" }]);
    const dry = await project.json("merge", "--branch", branch, "--dry-run");
    expect(dry.verdict).toBe(how === "by ov done" ? "verified" : "unverified");
    if (how === "by ov done") {
      expect(await project.read((tx) => tx.merges.get(1))).toMatchObject({ filesModified: ["a.txt"] });
    }
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
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, "Done: B1", --body, nothing to do]
`,
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  expect(await decisions(project)).toEqual([]);
  expect(await project.read((tx) => tx.merges.list({}))).toEqual([]);
}, 120_000);
