import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crashOut, promptsOf, ranTurns, slingNew, startsOf, untilAgent, untilFile } from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** A lead whose builder commits, leaves a file uncommitted and dies, four times; then it finishes what it began. */
const dying = `
- when: { agent: l, turn: 1 }
  do: [{ ov: [sling, B1, --name, b1, --files, work.txt] }]
- when: { agent: l, input: "Done: B1" }
  do:
    - ov: [mail, send, --to, operator, --type, merge_ready, --subject, r, --body, r, --payload, '{"branch":"overstory/b1/B1"}']
    - ov: [done, --summary, all done]
- when: { agent: l }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "now? \${turn}"] }]
- when: { agent: b1, input: "Go on with B1" }
  do:
    - shell: test "$(cat work.txt)" = half
    - shell: test "$(git log --format=%s -1)" = "first half"
    - input: { expect: "Dispatch: B1" }
    - edit: { file: work.txt, write: "whole\\n" }
    - commit: second half
    - ov: [done, --summary, it is whole, --expansion-reason, the notes belong to it]
- when: { agent: b1, attempt: 1 }
  do:
    - edit: { file: work.txt, write: "half\\n" }
    - commit: first half
    - edit: { file: notes.txt, write: "not yet committed\\n" }
    - kill: SIGKILL
- do: [{ exit: 1 }]
`;

/** The builder is a zombie, and its lead has been told. */
async function withZombie(): Promise<TestProject> {
  const project = await makeProject({ scenario: dying });
  await project.json("task", "create", "B1", "--id", "B1");
  await slingNew(project, "L", "--capability", "lead");
  await crashOut(project, "b1");
  await project.until("its lead had been told", async () => startsOf(project, "l").length === 2);
  await project.settled();
  return project;
}

describe("ov sling --recover after a crash", () => {
  test("goes on in the same worktree and conversation, for the same parent, as the next generation", async () => {
    await using project = await withZombie();
    const dead = await project.agent("b1");
    const before = await ranTurns(project, "b1");
    expect(dead).toMatchObject({ generation: 1, ahead: 1, dirty: true });
    const answer = await project.json("sling", "B1", "--recover");
    expect(answer).toMatchObject({ agentName: "b1", generation: 2, parentAgent: "l", branch: "overstory/b1/B1" });
    await untilAgent(project, "b1", "completed/done");
    const second = await project.agent("b1");
    expect(second).toMatchObject({
      worktreePath: dead.worktreePath,
      parentName: "l",
      taskId: "B1",
      scope: ["work.txt"],
      depth: 2,
      ahead: 2,
    });
    const resumed = startsOf(project, "b1").at(-1)?.argv ?? [];
    expect(resumed[resumed.indexOf("--resume") + 1]).toBe(dead.providerSessionId ?? "none");
    expect(await project.git("show", "overstory/b1/B1:work.txt")).toBe("whole\n");
    expect(await project.git("show", "overstory/b1/B1:notes.txt")).toBe("not yet committed\n");
    expect(await project.read((tx) => tx.agents.get(dead.id))).toMatchObject({ state: "zombie", outcome: "crashed" });
    expect(await project.read((tx) => tx.turns.listFor(dead.id))).toEqual(expect.arrayContaining(before));
    await untilAgent(project, "l", "completed/done");
  }, 180_000);

  test("takes a worktree up again of which git has lost its record, with everything that is in it", async () => {
    await using project = await withZombie();
    const dead = await project.agent("b1");
    const path = dead.worktreePath ?? "";
    rmSync(join(project.root, ".git", "worktrees", "b1"), { recursive: true });
    expect(existsSync(join(path, "notes.txt"))).toBe(true);
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    expect(await project.agent("b1")).toMatchObject({ worktreePath: path, worktreeIdentity: dead.worktreeIdentity });
    expect(await project.git("show", "overstory/b1/B1:work.txt")).toBe("whole\n");
    expect(await project.git("show", "overstory/b1/B1:notes.txt")).toBe("not yet committed\n");
    expect(await project.git("-C", path, "status", "--porcelain")).toBe("");
  }, 180_000);

  test("brings the mail that never reached the dead one, and the worktree back when it is gone", async () => {
    await using project = await makeProject({
      scenario: `
- when: { input: "Go on with B1" }
  do:
    - input: { expect: "a late hint" }
    - input: { expect: "Dispatch: B1" }
    - shell: test -e work.txt
    - ov: [done, --summary, done]
- do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - exit: 1
`,
    });
    await slingNew(project, "B1");
    await project.until("it had died", async () => (await ranTurns(project, "b1"))[0]?.status === "failed");
    await project.json("mail", "send", "--to", "b1", "--subject", "Hint", "--body", "a late hint");
    await project.json("stop", "b1");
    rmSync(join(project.root, ".overstory/worktrees/b1"), { recursive: true });
    const answer = await project.ov("sling", "b1", "--recover", "--wait=done", "--json");
    expect(JSON.parse(answer.out)).toMatchObject({ generation: 2, outcome: "done" });
    expect(existsSync(join(project.root, ".overstory/worktrees/b1"))).toBe(true);
  }, 120_000);

  test("never takes another directory for the worktree: it is put aside, and nothing of the branch is missing", async () => {
    await using project = await makeProject({
      scenario: `
- when: { input: "Go on with B1" }
  do:
    - edit: { file: more.txt, write: "more\\n" }
    - commit: more
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
- do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - touch: "\${env.HOME}/ready"
    - hang: true
`,
    });
    await slingNew(project, "B1");
    await untilFile(project, "ready");
    await project.json("stop", "b1");
    const path = join(project.root, ".overstory/worktrees/b1");
    rmSync(path, { recursive: true });
    mkdirSync(path);
    writeFileSync(join(path, "foreign.txt"), "foreign\n");
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    const changed = await project.git("diff", "--name-status", "main", "overstory/b1/B1");
    expect(changed).toBe("A\tmore.txt\nA\twork.txt\n");
    const mail = await project.read((tx) => tx.messages.list({ to: "operator" }));
    expect(mail.map(({ subject }) => subject).join()).toContain(
      "something else stood in the place of the worktree of b1",
    );
  }, 120_000);

  test("afresh begins again in a new worktree and conversation, and keeps all that the old one held", async () => {
    await using project = await makeProject({
      scenario: `
- when: { input: "begin anew" }
  do:
    - shell: test ! -e work.txt
    - shell: test ! -e notes.txt
    - shell: test "$(git branch --show-current)" = overstory/b1/B1-2
    - input: { expect: "Dispatch: B1" }
    - edit: { file: better.txt, write: "better\\n" }
    - commit: better
    - ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, done]
- when: { input: "Dispatch: B1" }
  do:
    - edit: { file: work.txt, write: "half\\n" }
    - commit: first half
    - edit: { file: notes.txt, write: "not yet committed\\n" }
    - touch: "\${env.HOME}/ready"
    - hang: true
`,
    });
    await slingNew(project, "B1");
    await untilFile(project, "ready");
    await project.json("stop", "b1");
    const old = await project.agent("b1");
    expect((await project.ov("sling", "B1", "--fresh")).code).toBe(2);
    const answer = await project.json("sling", "B1", "--recover", "--fresh", "--wait=done");
    expect(answer).toMatchObject({ generation: 2, branch: "overstory/b1/B1-2", outcome: "done" });
    expect(await project.agent("b1")).toMatchObject({ worktreePath: old.worktreePath, ahead: 1, dirty: false });
    expect(startsOf(project, "b1").at(-1)?.argv).not.toContain("--resume");
    expect(await project.git("show", "overstory/b1/B1:work.txt")).toBe("half\n");
    expect(await project.git("show", "refs/overstory/snap/b1/1/1:notes.txt")).toBe("not yet committed\n");
    expect(await project.git("show", "overstory/b1/B1-2:better.txt")).toBe("better\n");
    expect(await project.read((tx) => tx.agents.get(old.id))).toMatchObject({ state: "completed", outcome: "stopped" });
  }, 120_000);

  test("refuses an agent that lives and a name nobody has", async () => {
    await using project = await makeProject({ scenario: "- do: [{ hang: true }]\n" });
    await slingNew(project, "B1");
    await untilAgent(project, "b1", "in_turn");
    const alive = await project.ov("sling", "B1", "--recover");
    expect(alive).toMatchObject({ code: 2, err: expect.stringContaining('"b1" cannot be recovered: it is working') });
    expect((await project.ov("sling", "B7", "--recover")).code).toBe(7);
    expect(promptsOf(project, "b1")).toHaveLength(1);
  });
});
