import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";
import { confining, testConfined, withoutBubblewrap } from "../../testkit/sandboxed.ts";
import { statePath } from "../../testkit/state.ts";

/** Runs a program that changes the copy in every way, also by git. */
const scenario = `
- do:
    - shell: printf 'echo built > built.txt\\necho changed > README.md\\n' > build.sh; sh build.sh
    - shell: git add -A && git commit --quiet -m 'Change everything' && git rev-parse HEAD > "$OVERSTORY_SCRATCH/commit"
    - shell: git branch overstory/$OVERSTORY_AGENT_NAME/more && git stash list; echo rest > rest.txt
    - shell: echo done > "$OVERSTORY_SCRATCH/reached"
    - ov: [done, --summary, "I have looked."]
      allowFail: true
    - say: Looked.
`;

const rulesOf = (project: TestProject, name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(statePath(project.root, "agents", name, "guard.json"), "utf8"));

for (const capability of ["scout", "lead"] as const) {
  testConfined(`a confined ${capability} runs programs, and nothing that it writes comes back`, async () => {
    await using project = await makeProject({ config: confining, scenario });
    await project.json("task", "create", "Look", "--id", "T1");
    await project.json("sling", "T1", "--name", "r1", "--capability", capability);
    const scratch = statePath(project.root, "agents", "r1", "scratch");
    await project.until("it had run", async () => existsSync(join(scratch, "reached")));
    expect(rulesOf(project, "r1")).toMatchObject({ files: "read-only", runsAnything: true });
    const commit = readFileSync(join(scratch, "commit"), "utf8").trim();
    await project.settled();
    // Its branch and what keeps it stay where they were when it began.
    const first = (await project.git("rev-parse", "main")).trim();
    const refs = (await project.git("for-each-ref", "--format=%(objectname) %(refname)")).trim().split("\n");
    expect(refs.filter((ref) => ref.includes("r1") && !ref.startsWith(first))).toEqual([]);
    expect(refs.join()).not.toContain("/more");
    expect(project.git("cat-file", "-e", commit)).rejects.toThrow();
    expect(await project.git("status", "--short", "--untracked-files=no")).toBe("");
    expect(readFileSync(join(project.root, "README.md"), "utf8")).toBe("# Sample\n");
    expect(await project.agent("r1")).toMatchObject({ dirty: false, ahead: 0 });
    if (capability !== "scout") return;
    const cleaned = await project.ov("worktree", "clean", "--all", "--yes");
    expect([cleaned.code, cleaned.err]).toEqual([0, expect.any(String)]);
    expect(existsSync(join(project.root, ".overstory/worktrees/r1"))).toBe(false);
  });
}

test("a reader that nothing confines runs only what its guard knows", () =>
  withoutBubblewrap(async (PATH) => {
    await using project = await makeProject({ config: confining, env: { PATH }, scenario });
    await project.json("task", "create", "Look", "--id", "T1");
    await project.json("sling", "T1", "--name", "r1", "--capability", "scout");
    const rules = statePath(project.root, "agents", "r1", "guard.json");
    await project.until("it had its rules", async () => existsSync(rules));
    expect(rulesOf(project, "r1")).toMatchObject({ files: "read-only", runsAnything: false });
  }));

testConfined("a coordinator has the project's checkout for reading, and its guard stays as it is", async () => {
  await using project = await makeProject({
    config: confining,
    scenario: `
- do:
    - shell: cat README.md > "$OVERSTORY_SCRATCH/read"; echo x > README.md || echo refused > "$OVERSTORY_SCRATCH/refused"
    - shell: git log --oneline > "$OVERSTORY_SCRATCH/log"; touch "$OVERSTORY_SCRATCH/reached"
`,
  });
  await project.json("coordinator", "start", "--no-attach");
  await project.json("mail", "send", "--to", "coordinator", "--type", "dispatch", "--subject", "x", "--body", "x");
  const scratch = statePath(project.root, "agents", "coordinator", "scratch");
  await project.until("it had looked", async () => existsSync(join(scratch, "reached")));
  expect(readFileSync(join(scratch, "read"), "utf8")).toBe("# Sample\n");
  expect(readFileSync(join(scratch, "refused"), "utf8")).toBe("refused\n");
  expect(readFileSync(join(scratch, "log"), "utf8")).toContain("first");
  expect(rulesOf(project, "coordinator")).toMatchObject({ runsAnything: false });
});
