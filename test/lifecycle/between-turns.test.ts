import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { eventsOf, promptsOf, slingNew, textIn, untilAgent } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const question = "- ov: [mail, send, --to, operator, --type, question, --subject, q, --body, q]";
const branch = "overstory/b1/B1";
/** Ends with whatever it has to show, and on its own branch. */
const done = `- shell: ov done --summary d || ov done --no-code --summary d || { git checkout --quiet ${branch} && ov done --no-code --summary d; }`;

const files = { "a.txt": "a\n", "b.txt": "b\n", "src/one.txt": "1\n", "src/two.txt": "2\n", ".gitignore": "*.log\n" };

const pathOf = (project: TestProject): string => join(project.root, ".overstory", "worktrees", "b1");
const gitThere = (project: TestProject, ...args: string[]): Promise<string> =>
  project.git("-C", pathOf(project), ...args);

/** Its first turn is over, and it waits for an answer. */
async function waiting(project: TestProject): Promise<void> {
  await slingNew(project, "B1");
  await project.until("it waits", async () => (await project.agent("b1")).state === "between_turns");
  await project.settled();
}

/** `env`: for the engine that this starts, if the last one has left. */
async function secondTurn(project: TestProject, env: Readonly<Record<string, string>> = {}): Promise<void> {
  const mail = ["mail", "send", "--to", "b1", "--subject", "go on", "--body", "b", "--type", "dispatch"];
  expect((await project.ovWith({ env }, ...mail)).code).toBe(0);
  await untilAgent(project, "b1", "completed/done");
}

const toOperator = async (project: TestProject): Promise<string> => {
  const mail = await project.read((tx) => tx.messages.list({ to: "operator" }));
  return mail.map(({ subject, body }) => `${subject}\n${body}`).join("\n");
};

/** Commits one file, leaves one changed, one new and one deleted; in its second turn it commits whatever it finds. */
const commitsAll = (first: string): string => `
- when: { turn: 1 }
  do:
    ${first}
    ${question}
- do:
    - shell: git status --porcelain > "$HOME/status"; echo . >> "$HOME/status"
    - commit: everything that I found
    ${done}
`;

const worked = `- edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - edit: { file: a.txt, write: "changed\\n" }
    - edit: { file: draft/new.txt, write: "new\\n" }
    - shell: rm b.txt`;

/** As `rm -rf *` does, and for the hidden files as well. */
function empty(path: string): void {
  for (const name of readdirSync(path)) if (name !== ".git") rmSync(join(path, name), { recursive: true });
}

const filesAt = async (project: TestProject, commit: string): Promise<string[]> =>
  (await project.git("ls-tree", "-r", "--name-only", commit)).trim().split("\n");

describe("the files of a worktree were deleted between two turns, and its .git was not", () => {
  test("they are back before the next turn as the agent left them, and the operator is told", async () => {
    await using project = await makeProject({ scenario: commitsAll(worked), files });
    await waiting(project);
    empty(pathOf(project));
    await secondTurn(project);
    expect(await textIn(project, "status")).toBe(" M a.txt\n D b.txt\n?? draft/\n.\n");
    expect(await filesAt(project, branch)).toEqual(
      [".gitignore", "a.txt", "draft/new.txt", "src/one.txt", "src/two.txt", "work.txt"].toSorted(),
    );
    expect(await project.git("show", `${branch}:a.txt`)).toBe("changed\n");
    expect(await toOperator(project)).toContain(
      "6 files (.gitignore, a.txt, draft/new.txt, src/one.txt, src/two.txt, ...) were gone",
    );
    expect(await eventsOf(project, "worktree_mended")).toHaveLength(1);
  }, 180_000);

  test("by the agent itself, in its turn: they stay deleted, and nobody is told", async () => {
    const deletes = `- edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - shell: rm -rf a.txt b.txt src work.txt .gitignore`;
    await using project = await makeProject({ scenario: commitsAll(deletes), files });
    await waiting(project);
    await secondTurn(project);
    expect((await project.git("ls-tree", "-r", "--name-only", branch)).trim()).toBe("");
    expect(await eventsOf(project, "worktree_mended")).toHaveLength(0);
  }, 180_000);

  test("a few of them by a person: they stay deleted", async () => {
    await using project = await makeProject({ scenario: commitsAll(worked), files });
    await waiting(project);
    rmSync(join(pathOf(project), "src", "one.txt"));
    await secondTurn(project);
    expect(await filesAt(project, branch)).not.toContain("src/one.txt");
  }, 180_000);
});

describe("an agent is released before the damage to its worktree is seen", () => {
  const goesOn = `
- when: { input: "Go on with B1" }
  do:
    - shell: git status --porcelain > "$HOME/status"; echo . >> "$HOME/status"
    - commit: the rest
    ${done}
${commitsAll(worked)}`;

  test("all files were deleted: a recovered agent finds them as they were", async () => {
    await using project = await makeProject({ scenario: goesOn, files });
    await waiting(project);
    empty(pathOf(project));
    await project.json("stop", "b1");
    await project.json("release", "b1");
    await project.until("the worktree was taken away", async () => !existsSync(pathOf(project)));
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    expect(await textIn(project, "status")).toBe(" M a.txt\n D b.txt\n?? draft/\n.\n");
  }, 180_000);

  test("its branch was deleted: a recovered agent has its commits, and what was not committed", async () => {
    await using project = await makeProject({ scenario: goesOn, files });
    await waiting(project);
    const tip = (await project.git("rev-parse", branch)).trim();
    await project.git("update-ref", "-d", `refs/heads/${branch}`);
    await project.json("stop", "b1");
    await project.json("release", "b1");
    await project.until("the worktree was taken away", async () => !existsSync(pathOf(project)));
    await project.git("reflog", "expire", "--expire=now", "--all");
    await project.git("gc", "--quiet", "--prune=now");
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    expect((await project.git("rev-parse", `${branch}~1`)).trim()).toBe(tip);
    expect(await textIn(project, "status")).toBe(" M a.txt\n D b.txt\n?? draft/\n.\n");
  }, 180_000);
});

test("a branch that was moved back before its agent is released: its last commit is kept", async () => {
  const clean = `- edit: { file: work.txt, write: "work\\n" }
    - commit: work`;
  await using project = await makeProject({ scenario: commitsAll(clean), files });
  await waiting(project);
  const tip = (await project.git("rev-parse", branch)).trim();
  await gitThere(project, "reset", "--quiet", "--hard", "HEAD~1");
  await project.json("stop", "b1");
  await project.json("release", "b1");
  await project.until("the worktree was taken away", async () => !existsSync(pathOf(project)));
  const kept = await project.git("for-each-ref", "--format=%(objectname)", "refs/overstory/snap/b1/");
  expect(kept.split("\n")).toContain(tip);
}, 180_000);

for (const point of ["turn.before-mending", "turn.after-mending"]) {
  test(`a supervisor that was killed at ${point} is replaced by one that finishes`, async () => {
    await using project = await makeProject({ scenario: commitsAll(worked), files });
    const killed = join(project.state, "killed");
    await project.json("task", "create", "B1", "--id", "B1");
    const kill = { OVERSTORY_TEST_KILL_AT: point, OVERSTORY_TEST_KILL_ONCE: killed };
    expect((await project.ovWith({ env: kill }, "sling", "B1", "--name", "b1")).code).toBe(0);
    await project.until("it waits", async () => (await project.agent("b1")).state === "between_turns");
    empty(pathOf(project));
    await project.git("update-ref", "-d", `refs/heads/${branch}`);
    await secondTurn(project, kill);
    expect(existsSync(killed)).toBe(true);
    expect(await textIn(project, "status")).toBe(" M a.txt\n D b.txt\n?? draft/\n.\n");
    expect(await toOperator(project)).toContain("were gone, although");
  }, 180_000);
}

describe("the branch of a worktree between two turns", () => {
  test("was deleted: it is back at the last commit, the next turn goes on from there, and the operator is told", async () => {
    await using project = await makeProject({ scenario: commitsAll(worked), files });
    await waiting(project);
    const tip = (await project.git("rev-parse", branch)).trim();
    await project.git("update-ref", "-d", `refs/heads/${branch}`);
    await secondTurn(project);
    expect((await project.git("rev-parse", `${branch}~1`)).trim()).toBe(tip);
    expect(await toOperator(project)).toContain(
      `The branch ${branch} was gone. It was made again at ${tip.slice(0, 12)}`,
    );
  }, 180_000);

  test("was deleted before its first commit: it is back where it began", async () => {
    await using project = await makeProject({ scenario: commitsAll("- say: nothing yet"), files });
    await waiting(project);
    const base = (await project.git("rev-parse", branch)).trim();
    await project.git("update-ref", "-d", `refs/heads/${branch}`);
    await secondTurn(project);
    expect((await project.git("rev-parse", branch)).trim()).toBe(base);
  }, 180_000);

  test("was renamed: the next commit is on the branch that lands", async () => {
    await using project = await makeProject({ scenario: commitsAll(worked), files });
    await waiting(project);
    await project.git("branch", "-m", branch, "mine");
    const tip = (await project.git("rev-parse", "mine")).trim();
    await secondTurn(project);
    expect((await project.git("rev-parse", `${branch}~1`)).trim()).toBe(tip);
    expect((await project.git("rev-parse", "mine")).trim()).toBe(tip);
    expect(await toOperator(project)).toContain("its worktree was on the branch mine");
  }, 180_000);

  test("was moved back: the commits that it lost are kept under a ref, and operator and agent are told", async () => {
    const clean = `- edit: { file: work.txt, write: "work\\n" }
    - commit: work`;
    await using project = await makeProject({ scenario: commitsAll(clean), files });
    await waiting(project);
    const tip = (await project.git("rev-parse", branch)).trim();
    await gitThere(project, "reset", "--quiet", "--hard", "HEAD~1");
    await secondTurn(project);
    const kept = await project.git("for-each-ref", "--format=%(objectname)", "refs/overstory/snap/b1/");
    expect(kept.split("\n")).toContain(tip);
    expect(await toOperator(project)).toContain(`no longer holds ${tip.slice(0, 12)}`);
    expect(promptsOf(project, "b1").at(-1)).toContain(`no longer holds ${tip.slice(0, 12)}`);
  }, 180_000);

  test("got commits of a person: nobody is told, for nothing is lost", async () => {
    await using project = await makeProject({ scenario: commitsAll(worked), files });
    await waiting(project);
    await gitThere(project, "add", "-A");
    await gitThere(project, "commit", "--quiet", "-m", "by hand");
    await secondTurn(project);
    expect(await eventsOf(project, "worktree_mended")).toHaveLength(0);
    expect(await filesAt(project, branch)).toContain("draft/new.txt");
  }, 180_000);

  test("was left for another one: agent and operator are told", async () => {
    await using project = await makeProject({ scenario: commitsAll("- say: nothing yet"), files });
    await waiting(project);
    await gitThere(project, "checkout", "--quiet", "-b", "elsewhere");
    await secondTurn(project);
    expect(promptsOf(project, "b1").at(-1)).toContain(`The worktree is on the branch elsewhere, not on ${branch}`);
    expect(await toOperator(project)).toContain(`The worktree is on the branch elsewhere, not on ${branch}`);
  }, 180_000);
});

describe("uncommitted work that a command of git took out of a worktree between two turns", () => {
  const commands: readonly (readonly string[])[] = [
    ["stash", "--quiet", "--include-untracked"],
    ["reset", "--quiet", "--hard"],
    ["clean", "--quiet", "-fd"],
  ];
  for (const command of commands) {
    test(`git ${command[0]}: it stays out; agent and operator are told where it is kept`, async () => {
      await using project = await makeProject({ scenario: commitsAll(worked), files });
      await waiting(project);
      await gitThere(project, ...command);
      await secondTurn(project);
      const told = promptsOf(project, "b1").at(-1) ?? "";
      expect(told).toContain("no longer in the worktree");
      expect(told).toContain(command[0] === "reset" ? "a.txt" : "draft/new.txt");
      expect(await toOperator(project)).toContain("ov snapshots restore snap/b1/1/1");
      expect(existsSync(join(pathOf(project), "draft", "new.txt"))).toBe(command[0] === "reset");
    }, 180_000);
  }
});
