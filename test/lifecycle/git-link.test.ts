import { expect, test } from "bun:test";
import { existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const done = "- ov: [done, --no-code, --summary, d]";

const question = "- ov: [mail, send, --to, operator, --type, question, --subject, q, --body, q]";

/** Its first turn is over, and it waits for an answer. */
async function asked(project: TestProject): Promise<void> {
  await project.until("it waits", async () => (await project.agent("b1")).state === "between_turns");
  await project.settled();
}

const eventsOf = (project: TestProject, type: string) =>
  project.read(async (tx) => (await tx.events.after(0, 10_000)).filter((event) => event.type === type));

test("an agent that lost the .git of its worktree cannot commit in the user's checkout", async () => {
  const scenario = `
- do:
    - edit: { file: work.txt, write: "the agent's\\n" }
    - shell: rm .git; git add -A && git commit --quiet -m stolen; echo $? > "$HOME/code"
    ${question}
`;
  await using project = await makeProject({ scenario });
  writeFileSync(join(project.root, "users.txt"), "the user's\n");
  const before = await project.git("rev-parse", "main");
  await project.json("sling", "Do the work", "--name", "b1");
  await asked(project);
  expect(readFileSync(join(project.home, "code"), "utf8").trim()).not.toBe("0");
  expect(await project.git("rev-parse", "main")).toBe(before);
  expect(await project.git("status", "--porcelain", "--", "users.txt")).toBe("?? users.txt\n");
  // What it wrote is kept, and its worktree belongs to its branch again.
  const [snapshot] = await project.read((tx) => tx.snapshots.of("b1"));
  expect(await project.git("show", `${snapshot?.commitId}:work.txt`)).toBe("the agent's\n");
  expect((await eventsOf(project, "worktree_link"))[0]?.data).toContain("was put back");
}, 120_000);

const obstacles: readonly (readonly [string, (path: string) => void, RegExp])[] = [
  [
    "a link stands in its place",
    (path) => {
      renameSync(path, `${path}.real`);
      symlinkSync(`${path}.real`, path);
    },
    /a symbolic link stands at/,
  ],
  [
    "a repository of its own was made there",
    (path) => {
      rmSync(join(path, ".git"));
      Bun.spawnSync({ cmd: ["git", "init", "--quiet", path] });
    },
    /a repository of its own was made/,
  ],
];

for (const [what, spoil, words] of obstacles) {
  test(`no turn starts where ${what}`, async () => {
    const scenario = `
- when: { turn: 1 }
  do:
    ${question}
- do:
    - touch: "\${env.HOME}/second"
    ${done}
`;
    await using project = await makeProject({ scenario });
    await project.json("sling", "Do the work", "--name", "b1");
    await asked(project);
    spoil(join(project.root, ".overstory", "worktrees", "b1"));
    await project.json("mail", "send", "--to", "b1", "--subject", "go on", "--body", "b", "--type", "dispatch");
    const failures = async () => (await eventsOf(project, "turn_end")).filter(({ data }) => words.test(String(data)));
    await project.until("the turn failed", async () => (await failures()).length > 0);
    expect(existsSync(join(project.home, "second"))).toBe(false);
    await project.ov("stop", "b1", "--force");
  }, 120_000);
}

test("a turn is given back the .git that somebody deleted between turns", async () => {
  const scenario = `
- when: { turn: 1 }
  do:
    ${question}
- do:
    - shell: git rev-parse --show-toplevel > "$HOME/top"
    ${done}
`;
  await using project = await makeProject({ scenario });
  await project.json("sling", "Do the work", "--name", "b1");
  await asked(project);
  const path = join(project.root, ".overstory", "worktrees", "b1");
  rmSync(join(path, ".git"));
  await project.json("mail", "send", "--to", "b1", "--subject", "go on", "--body", "b", "--type", "dispatch");
  await project.until("it ended", async () => (await project.agent("b1")).state === "completed");
  expect(readFileSync(join(project.home, "top"), "utf8").trim()).toBe(path);
}, 120_000);

test("stop --force ends an agent whose work cannot be kept under a ref, and says so", async () => {
  const scenario = `
- do:
    - edit: { file: work.txt, write: "work\\n" }
    - touch: "\${env.HOME}/at-work"
    - hang: true
`;
  await using project = await makeProject({ scenario });
  await project.json("task", "create", "Earlier");
  await project.git("update-ref", "refs/overstory/snap/b1", "HEAD");
  await project.json("sling", "Do the work", "--name", "b1");
  await project.until("it was at work", async () => existsSync(join(project.home, "at-work")));
  expect(await project.json("stop", "b1", "--force")).toMatchObject({ stopped: true });
  expect(await project.agent("b1")).toMatchObject({ state: "completed", outcome: "stopped" });
  expect((await eventsOf(project, "snapshot_failed"))[0]?.data).toContain("refs/overstory/snap/b1");
  expect(existsSync(join(project.root, ".overstory/worktrees/b1/work.txt"))).toBe(true);
}, 120_000);
