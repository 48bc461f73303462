import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A lead that announces a branch nobody owns, as the work of another agent, and things that are no branches. */
const scenario = `
- when: { agent: lead1 }
  do:
    - shell: |
        say() { ov mail send --to operator --type merge_ready --subject ready --body "please land it" --payload "$1"; }
        for name in -x HEAD '@{-1}' ' ' 'feature^'; do
          say "{\\"branch\\":\\"$name\\"}" && touch "$HOME/queued-$name"
        done
        say '{"branch":"feature","taskId":"T1","agentName":"b1","filesModified":["harmless.txt"]}' > "$HOME/said" 2>&1
        true
- when: { agent: b1 }
  do:
    - sleep: 60
`;

async function committed(project: TestProject, file: string): Promise<string> {
  writeFileSync(join(project.root, file), `${file}\n`);
  await project.git("add", "--", file);
  await project.git("commit", "--quiet", "-m", file);
  return (await project.git("rev-parse", "HEAD")).trim();
}

async function announced(): Promise<{ readonly project: TestProject; readonly shown: string }> {
  const project = await makeProject({ scenario, gates: ["true"] });
  await project.git("checkout", "--quiet", "-b", "feature", "main");
  const shown = await committed(project, "harmless.txt");
  await project.git("checkout", "--quiet", "main");
  await project.json("task", "create", "The victim's", "--id", "T1");
  await project.json("task", "create", "The lead's", "--id", "L1");
  await project.json("sling", "T1", "--name", "b1");
  await project.json("sling", "L1", "--capability", "lead", "--name", "lead1");
  await project.until("it was announced", async () => (await project.read((tx) => tx.merges.list({}))).length > 0);
  return { project, shown };
}

test("an approval is for the commit that was announced and shown, not for what came onto the branch since", async () => {
  const { project, shown } = await announced();
  await using _ = project;
  expect(await project.json("merge", "show", "1")).toMatchObject({
    entry: { headCommit: shown, approval: "waiting", filesModified: ["harmless.txt"] },
  });
  expect((await project.ov("merge", "diff", "1")).out).toStartWith(`commit ${shown}\n`);
  await project.git("checkout", "--quiet", "feature");
  await committed(project, "evil.txt");
  await project.git("checkout", "--quiet", "main");
  const refused = await project.ov("merge", "approve", "1");
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("has moved since it was queued") });
  const left = await project.json("merge", "approve", "1", "--leave-rest");
  expect(left).toMatchObject({ approved: [{ headCommit: shown }] });
  await project.until("it had landed", async () => (await entryOf(project))?.status === "merged");
  const landed = (await entryOf(project))?.resultCommit ?? "";
  const files = (await project.git("ls-tree", "--name-only", landed)).split("\n");
  expect(files).toContain("harmless.txt");
  expect(files).not.toContain("evil.txt");
}, 120_000);

test("a branch of no agent lands in no agent's name and closes nobody's task, and what is no branch is refused", async () => {
  const { project } = await announced();
  await using _ = project;
  expect(await project.read((tx) => tx.merges.list({}))).toMatchObject([
    { branch: "feature", agentName: null, taskId: null },
  ]);
  await project.json("merge", "approve", "1");
  await project.until("it had landed", async () => (await entryOf(project))?.status === "merged");
  expect(await project.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "in_progress" });
  const subjects = (await project.git("log", "--format=%s", (await entryOf(project))?.resultCommit ?? "")).split("\n");
  expect(subjects[0]).not.toContain("victim");
}, 120_000);

const entryOf = (project: TestProject) => project.read((tx) => tx.merges.get(1));
