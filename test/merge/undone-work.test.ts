import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promptsOf, slingNew, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Each agent commits one file; called back after an undo, b1 has nothing to add, and b2 commits one file more and is not done. */
const scenario = `
- when: { agent: b1, input: "Go on with B1" }
  do:
    - shell: ov done --no-code --summary "Nothing to add" >"$HOME/no-code" 2>&1
      expect: 2
    - shell: ov done --summary "As it was" >"$HOME/again" 2>&1
- when: { agent: b2, input: "Go on with B2" }
  do:
    - edit: { file: more.txt, write: "more\\n" }
    - commit: more
    - hang: true
- do:
    - edit: { file: "\${agent}.txt", write: "\${agent}\\n" }
    - commit: work
    - ov: [done, --summary, Work]
`;

/** The work of b1 and b2 has landed, and the work of the first was taken out again under that of the second. */
async function undone(out = "b1"): Promise<{ project: TestProject; landing: string }> {
  const project = await makeProject({ gates: ["true"], scenario });
  for (const task of ["B1", "B2"]) {
    const name = task.toLowerCase();
    await slingNew(project, task);
    await untilAgent(project, name, "completed/done");
    await project.json("merge", "--branch", `overstory/${name}/${task}`);
  }
  const { entries } = (await project.json("merge", "list", "--all")) as { entries: { targetBranch: string }[] };
  await project.json("merge", "undo", `overstory/${out}/${out.toUpperCase()}`, "--yes");
  return { project, landing: entries[0]?.targetBranch ?? "" };
}

const has = async (project: TestProject, ref: string, file: string): Promise<boolean> =>
  (await project.git("ls-tree", "--name-only", ref)).split("\n").includes(file);

test("an agent that is called back after its landing was undone hands its commits over again", async () => {
  const { project, landing } = await undone();
  await using _ = project;
  expect(await has(project, landing, "b1.txt")).toBe(false);
  await project.json("recover", "b1");
  await untilAgent(project, "b1", "completed/done");
  const [, told = ""] = promptsOf(project, "b1");
  expect(told).toContain("had reported its work as done");
  expect(told).toContain(`landed on ${landing} (merge 1) and were taken out again, by operator`);
  expect(told).not.toContain("before the work was done");
  expect(readFileSync(join(project.home, "no-code"), "utf8")).toContain("there is 1 commit on the branch");
  expect((await project.ov("diff", "b1")).out).toContain("+++ b/b1.txt");
  // The report reaches the queue like any other: it waits for the operator, and lands as a change of its own.
  const { entries } = (await project.json("merge", "list")) as { entries: Record<string, unknown>[] };
  expect(entries).toMatchObject([{ branchName: "overstory/b1/B1", approval: "waiting", filesModified: ["b1.txt"] }]);
  expect((await project.json("task", "show", "B1")).task).toMatchObject({ status: "in_review" });
  const merged = await project.json("merge", "--branch", "overstory/b1/B1");
  expect(merged).toMatchObject({ success: true, warnings: [], entry: { filesModified: ["b1.txt"] } });
  expect(await project.git("show", `${landing}:b1.txt`)).toBe("b1\n");
  expect(await project.git("show", `${landing}:b2.txt`)).toBe("b2\n");
}, 180_000);

test("a dry run says that an undone branch comes back, and with which files; the merge says the same", async () => {
  const { project, landing } = await undone();
  await using _ = project;
  const dry = await project.ov("merge", "--branch", "overstory/b1/B1", "--dry-run");
  expect(dry.out).toContain("taken out again; this brings it back");
  expect(dry.out).toContain("files: b1.txt");
  expect(dry.out).not.toContain("already contained");
  const merged = await project.ov("merge", "--branch", "overstory/b1/B1");
  expect(merged.out).toContain("1 file, into");
  expect(await has(project, landing, "b1.txt")).toBe(true);
  const again = await project.ov("merge", "--branch", "overstory/b1/B1", "--dry-run");
  expect(again.out).toContain("already contained");
}, 180_000);

test("a dry run says that the user reverted a landing on the target, until the revert is reverted", async () => {
  await using project = await makeProject({ gates: ["true"], scenario });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  await project.json("merge", "--branch", "overstory/b1/B1");
  await project.json("merge", "promote");
  const dry = async (): Promise<string> => (await project.ov("merge", "--branch", "overstory/b1/B1", "--dry-run")).out;
  expect(await dry()).not.toContain("git revert");
  const isMerge = (await project.git("rev-list", "--parents", "-1", "main")).trim().split(" ").length > 2;
  await project.git("revert", "--no-edit", ...(isMerge ? ["-m", "1"] : []), "main");
  expect(await has(project, "main", "b1.txt")).toBe(false);
  const by = (await project.git("rev-parse", "main")).slice(0, 12);
  expect((await dry()).replace(/\s+/g, " ")).toContain(`git revert ${by}`);
  await project.git("revert", "--no-edit", "main");
  expect(await has(project, "main", "b1.txt")).toBe(true);
  expect(await dry()).not.toContain("git revert");
}, 180_000);

test("ov clean keeps a branch whose landing was undone, says why, and names the command that brings it back", async () => {
  const { project } = await undone();
  await using _ = project;
  const cleaned = await project.ov("clean", "--branches", "--worktrees", "--yes");
  expect(cleaned.code).toBe(0);
  const branches = (await project.git("branch", "--list", "overstory/b*", "--format=%(refname:short)")).trim();
  expect(branches).toBe("overstory/b1/B1");
  const shown = await project.ov("clean", "--branches", "--dry-run");
  expect(shown.out).toContain("overstory/b1/B1 stays: it landed and was taken out again (op-");
  expect(shown.out).toContain("ov merge --branch overstory/b1/B1");
  // Landed again it may go.
  await project.json("merge", "--branch", "overstory/b1/B1");
  await project.json("clean", "--branches", "--yes");
  expect((await project.git("branch", "--list", "overstory/b*")).trim()).toBe("");
}, 180_000);

test("the list of worktrees does not call a newer commit, or one that was taken out, merged", async () => {
  const { project } = await undone();
  await using _ = project;
  const statuses = async (): Promise<unknown> => {
    const { worktrees } = (await project.json("worktree", "list")) as { worktrees: Record<string, unknown>[] };
    return Object.fromEntries(worktrees.map(({ agentName, mergeStatus }) => [agentName, mergeStatus]));
  };
  await project.json("task", "reopen", "B2");
  await project.json("recover", "b2");
  await project.until("b2 had committed", async () => has(project, "overstory/b2/B2", "more.txt"));
  expect(await statuses()).toEqual({ b2: null });
  expect((await project.ov("worktree", "list")).out).toContain("an earlier commit");
}, 180_000);

test("an undo says that the target still has the work only when it has", async () => {
  await using project = await makeProject({ gates: ["true"], scenario });
  for (const task of ["B1", "B2"]) {
    await slingNew(project, task);
    await untilAgent(project, task.toLowerCase(), "completed/done");
    await project.json("merge", "--branch", `overstory/${task.toLowerCase()}/${task}`);
  }
  await project.json("merge", "promote");
  const undo = async (of: string) => {
    const done = await project.json("merge", "undo", of, "--yes");
    return { stillIn: done.stillIn, id: (done.undo as { id: string }).id };
  };
  const first = await undo("overstory/b1/B1");
  expect(first.stillIn).toBe("main");
  // Main has it, and the landing branch has it again.
  expect((await undo(first.id)).stillIn).toBeNull();
  await project.git("rm", "--quiet", "b1.txt");
  await project.git("commit", "--quiet", "-m", "without b1");
  expect((await undo("overstory/b1/B1")).stillIn).toBeNull();
}, 180_000);
