import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deathNotices, slingNew, textIn, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const question = "- ov: [mail, send, --to, operator, --type, question, --subject, q, --body, q]";
const done = "- ov: [done, --summary, d]";
const nothingDone = "- ov: [done, --no-code, --summary, d]";

const branch = "overstory/b1/B1";
const pathOf = (project: TestProject): string => join(project.root, ".overstory", "worktrees", "b1");

/** Its first turn is over, and it waits for an answer. */
async function waiting(project: TestProject): Promise<void> {
  await slingNew(project, "B1");
  await project.until("it waits", async () => (await project.agent("b1")).state === "between_turns");
  await project.settled();
}

const wake = (project: TestProject): Promise<unknown> =>
  project.json("mail", "send", "--to", "b1", "--subject", "go on", "--body", "b", "--type", "dispatch");

const toOperator = async (project: TestProject): Promise<string> => {
  const mail = await project.read((tx) => tx.messages.list({ to: "operator" }));
  return mail.map(({ subject, body }) => `${subject}\n${body}`).join("\n");
};

/** Commits, waits for an answer, and shows after a recovery what it finds. */
const commits = `
- when: { input: "Go on with B1" }
  do:
    - shell: cat work.txt > "$HOME/found"
    ${done}
- when: { turn: 1 }
  do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    ${question}
- do: [{ exit: 1 }]
`;

describe("a worktree and branch that somebody deleted by hand", () => {
  async function removed(project: TestProject): Promise<string> {
    await waiting(project);
    const tip = (await project.git("rev-parse", branch)).trim();
    await project.git("worktree", "remove", "--force", pathOf(project));
    await project.git("branch", "-D", branch);
    await wake(project);
    return tip;
  }

  test("end the agent at once, the notice says what is left, and recovering brings the commits back", async () => {
    await using project = await makeProject({ scenario: commits });
    const tip = await removed(project);
    await untilAgent(project, "b1", "zombie/crashed");
    const [notice] = await deathNotices(project, "b1");
    expect(notice?.body).toContain(`Its branch ${branch} is gone; git still has its last commit, ${tip.slice(0, 12)}.`);
    expect(notice?.body).not.toContain("Its worktree and branch are kept");
    expect(notice?.body).toContain("Next: ov recover b1");
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    expect(await textIn(project, "found")).toBe("work\n");
    expect((await project.git("rev-parse", branch)).trim()).toBe(tip);
  }, 180_000);

  test("whose commits git has no more: recovering says so and names the new beginning", async () => {
    await using project = await makeProject({ scenario: commits });
    const tip = await removed(project);
    await untilAgent(project, "b1", "zombie/crashed");
    await project.git("reflog", "expire", "--expire=now", "--all");
    await project.git("gc", "--quiet", "--prune=now");
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "zombie/start_failed");
    expect(await toOperator(project)).toContain(
      `its branch ${branch} is gone, and git no longer has its last commit ${tip.slice(0, 12)}; begin anew with: ov recover b1 --fresh`,
    );
    expect(existsSync(pathOf(project))).toBe(false);
  }, 180_000);
});

test("an agent that renamed its branch: the failed start names the way back, which keeps its work", async () => {
  const renames = commits.replace("- commit: work", "- commit: work\n    - shell: git branch -m renamed");
  await using project = await makeProject({ scenario: renames });
  await waiting(project);
  await project.ov("stop", "b1");
  await project.json("recover", "b1");
  await untilAgent(project, "b1", "zombie/start_failed");
  const told = await toOperator(project);
  expect(told).toContain(`its worktree is on the branch renamed, and its own branch ${branch} is gone`);
  expect(told).toContain(`rename it back with: git branch -m renamed ${branch}, then: ov recover b1`);
  const { out } = await project.ov("status");
  expect(out).toContain("then have it go on: ov recover b1");
  expect(out).not.toContain("ov sling");
  await project.git("branch", "-m", "renamed", branch);
  await project.json("recover", "b1");
  await untilAgent(project, "b1", "completed/done");
  expect(await textIn(project, "found")).toBe("work\n");
}, 180_000);

test("a new beginning after a recovery that failed: the earlier worktree makes room, and its work is kept", async () => {
  const renames = `
- when: { attempt: 1 }
  do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - edit: { file: draft.txt, write: "draft\\n" }
    - shell: git branch -m renamed
    ${question}
- do:
    - shell: git status --porcelain > "$HOME/found"; git log --format=%s >> "$HOME/found"
    ${nothingDone}
`;
  await using project = await makeProject({ scenario: renames });
  await waiting(project);
  await project.ov("stop", "b1");
  await project.json("recover", "b1");
  await untilAgent(project, "b1", "zombie/start_failed");
  await project.json("recover", "b1", "--fresh");
  await untilAgent(project, "b1", "completed/done");
  expect(await textIn(project, "found")).toBe("first\n");
  expect(await project.git("show", "renamed:work.txt")).toBe("work\n");
  expect(await project.git("show", "refs/overstory/snap/b1/1/1:draft.txt")).toBe("draft\n");
  // The second worktree goes with its agent, now or in a moment; the first has made room.
  expect((await project.git("worktree", "list")).trim().split("\n").length).toBeLessThanOrEqual(2);
}, 180_000);

test("changes that an agent gave up do not come back with its worktree", async () => {
  const scenario = `
- when: { input: "Go on with B1" }
  do:
    - shell: cat a.txt > "$HOME/found"
    ${nothingDone}
- when: { turn: 1 }
  do:
    - edit: { file: a.txt, write: "an idea\\n" }
    ${question}
- when: { turn: 2 }
  do:
    - shell: git checkout --quiet -- a.txt
    ${question}
- do: [{ exit: 1 }]
`;
  await using project = await makeProject({ scenario, files: { "a.txt": "as it was\n" } });
  await waiting(project);
  expect(await project.git("show", "refs/overstory/snap/b1/1/1:a.txt")).toBe("an idea\n");
  await wake(project);
  await untilTurns(project, "b1", 2);
  await project.json("stop", "b1");
  await project.git("worktree", "remove", "--force", pathOf(project));
  await project.json("recover", "b1");
  await untilAgent(project, "b1", "completed/done");
  expect(await textIn(project, "found")).toBe("as it was\n");
}, 180_000);

describe("a worktree that was emptied, its .git included", () => {
  const empty = (path: string): void => {
    for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
    writeFileSync(join(path, "late.txt"), "of a program that was still at work\n");
  };

  test("between two turns: no turn begins in it, the operator is told, and recovering brings all files back", async () => {
    await using project = await makeProject({ scenario: commits });
    await waiting(project);
    empty(pathOf(project));
    await wake(project);
    await untilAgent(project, "b1", "zombie/crashed");
    const [notice] = await deathNotices(project, "b1");
    expect(notice?.body).toContain(`the files of the worktree ${pathOf(project)} are gone`);
    expect(notice?.body).toContain(`Its branch ${branch} is kept.`);
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    expect(await textIn(project, "found")).toBe("work\n");
  }, 180_000);

  test("by the agent itself: no snapshot says that everything is to be deleted", async () => {
    const scenario = `
- when: { input: "Go on with B1" }
  do:
    - shell: cat work.txt draft.txt > "$HOME/found"
    - commit: draft
    ${done}
- when: { turn: 1 }
  do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - edit: { file: draft.txt, write: "draft\\n" }
    ${question}
- do:
    - shell: find . -mindepth 1 -delete
    - exit: 1
`;
    await using project = await makeProject({ scenario });
    await waiting(project);
    await wake(project);
    await untilAgent(project, "b1", "zombie/crashed");
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    expect(await textIn(project, "found")).toBe("work\ndraft\n");
    expect(readFileSync(join(pathOf(project), "work.txt"), "utf8")).toBe("work\n");
  }, 180_000);
});

describe("work that is not on the branch of the recovered agent", () => {
  /** Ends in the middle of a rebase that cannot go on, after a commit on no branch. */
  const unsettled = `
- when: { input: "Go on with B1" }
  do:
    - input: { expect: "not all work of b1 is on its branch" }
    - shell: git rebase --abort || true
    ${done}
- do:
    - shell: |
        git checkout --quiet --detach
        echo loose > loose.txt && git add -A && git commit --quiet -m loose
        git rev-parse HEAD > "$HOME/loose"
        git checkout --quiet ${branch}
        echo mine > a.txt && git commit --quiet -am mine
        git checkout --quiet -b other HEAD~1 && echo theirs > a.txt && git commit --quiet -am theirs
        git checkout --quiet ${branch}
        git rebase --quiet other || true
    - touch: "\${env.HOME}/ready"
    - hang: true
`;

  test("stands in its worktree: ov recover and a mail name the open rebase and the commits, which are kept", async () => {
    await using project = await makeProject({ scenario: unsettled, files: { "a.txt": "a\n" } });
    await slingNew(project, "B1");
    await project.until("it was ready", async () => existsSync(join(project.home, "ready")));
    await project.json("stop", "b1");
    const loose = readFileSync(join(project.home, "loose"), "utf8").trim();
    const answer = await project.json("recover", "b1");
    expect(answer.warnings).toEqual([
      expect.stringContaining("A rebase was left half-way"),
      expect.stringContaining(loose.slice(0, 12)),
    ]);
    await untilAgent(project, "b1", "completed/done");
    const mail = await toOperator(project);
    expect(mail).toContain("not all work of b1 is on its branch\nA rebase was left half-way.");
    expect(mail).toContain(loose.slice(0, 12));
    const [, ref = ""] = /All of it is kept as (\S+)\./.exec(mail) ?? [];
    await project.git("merge-base", "--is-ancestor", loose, ref);
  }, 180_000);

  test("went with its worktree: the mail names the snapshot that holds it", async () => {
    await using project = await makeProject({ scenario: unsettled, files: { "a.txt": "a\n" } });
    await slingNew(project, "B1");
    await project.until("it was ready", async () => existsSync(join(project.home, "ready")));
    await project.json("stop", "b1");
    const loose = readFileSync(join(project.home, "loose"), "utf8").trim();
    await project.git("worktree", "remove", "--force", pathOf(project));
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    const [, ref = ""] = /Work that is kept as (\S+?),? done at/.exec(await toOperator(project)) ?? [];
    await project.git("merge-base", "--is-ancestor", loose, ref);
  }, 180_000);
});
