import { describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  crashOut,
  deathNotices,
  eventsOf,
  moveClock,
  promptsOf,
  queuedTurn,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

test("an agent that crashes every time is run four times, each after its back-off, then given up once", async () => {
  await using project = await makeProject({ scenario: "- do: [{ exit: 3 }]\n" });
  await slingNew(project, "B1");
  let clock = 0;
  for (const [index, backOff] of [5_000, 30_000, 120_000].entries()) {
    await untilTurns(project, "b1", index + 1);
    const turns = await ranTurns(project, "b1");
    const retry = await queuedTurn(project, "b1");
    expect(retry).toMatchObject({ trigger: "retry", attempt: index + 2 });
    expect((retry?.notBefore ?? 0) - (turns.at(-1)?.endedAt ?? 0)).toBe(backOff);
    // Mail that comes meanwhile does not cut the back-off short.
    await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", `q${index}`, "--body", "well?");
    const waiting = await queuedTurn(project, "b1");
    // On a slow machine its time may have come.
    if (waiting !== undefined) expect(waiting).toMatchObject({ attempt: index + 2, notBefore: retry?.notBefore });
    clock += backOff;
    await moveClock(project, clock);
  }
  await untilAgent(project, "b1", "zombie/crashed");
  for (const { startedAt, notBefore } of await ranTurns(project, "b1"))
    expect(startedAt ?? 0).toBeGreaterThanOrEqual(notBefore);
  await moveClock(project, clock + 3_600_000);
  await project.until("every process had ended", async () => project.processes().length === 0);
  expect(startsOf(project, "b1")).toHaveLength(4);
  const notices = await deathNotices(project, "b1");
  expect(notices).toHaveLength(1);
  expect(JSON.parse(notices[0]?.payload ?? "{}")).toMatchObject({
    agentName: "b1",
    terminatedBy: "runner",
    outcome: "crashed",
    exitCode: 3,
    generation: 1,
    branch: "overstory/b1/B1",
  });
  const { messages } = await project.json("mail", "dead");
  expect(messages).toHaveLength(4);
  expect(messages).toContainEqual(
    expect.objectContaining({ subject: "Dispatch: B1", delivery: expect.objectContaining({ attempts: 4 }) }),
  );
  const reported = await project.read((tx) => tx.messages.list({ to: "operator", type: "error" }));
  const undelivered = reported.filter(({ subject }) => subject.startsWith("Not delivered"));
  expect(undelivered).toHaveLength(4);
  for (const { body } of undelivered) expect(body).toContain("ov recover b1 (it then gets this message)");
  const told = (await eventsOf(project, "mail_sent")).filter(({ agentName }) => agentName === "system");
  expect(new Set(told.map(({ source }) => source))).toEqual(new Set(["engine"]));
}, 180_000);

test("a dead child's unread mail goes to its live parent, who is woken by the notice alone", async () => {
  await using project = await makeProject({
    scenario: `
- when: { agent: l, turn: 1 }
  do: [{ ov: [sling, B1, --name, b1] }]
- when: { agent: l }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "now? \${turn}"] }]
- do: [{ exit: 1 }]
`,
  });
  await project.json("task", "create", "B1", "--id", "B1");
  await slingNew(project, "L", "--capability", "lead");
  await untilTurns(project, "b1", 1);
  await project.json("mail", "send", "--to", "b1", "--subject", "Hint", "--body", "look left");
  await crashOut(project, "b1");
  await untilTurns(project, "l", 2);
  const [, told = ""] = promptsOf(project, "l");
  expect(told).toContain("worker_died: b1");
  expect(told).toContain("look left");
  // Its own dispatch does not come back to the lead, so that is the one dead letter.
  expect(await project.json("mail", "dead")).toMatchObject({ messages: [{ subject: "Dispatch: B1", from: "l" }] });
}, 180_000);

test("an agent whose worktree was deleted fails its turn with the reason, and is not tried again", async () => {
  await using project = await makeProject({
    scenario: "- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?] }]\n",
  });
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  await project.settled();
  rmSync(join(project.root, ".overstory/worktrees/b1"), { recursive: true });
  await project.json("mail", "send", "--to", "b1", "--type", "question", "--subject", "Well", "--body", "and now?");
  await untilAgent(project, "b1", "zombie/crashed");
  const { id } = await project.agent("b1");
  const [, failed, ...more] = await project.read((tx) => tx.turns.listFor(id));
  expect(failed).toMatchObject({ status: "failed", fence: 1 });
  expect(failed?.error).toContain("is gone");
  expect(more).toEqual([]);
  expect(startsOf(project, "b1")).toHaveLength(1);
});

describe("what a broken agent leaves behind stays", () => {
  test("garbage after commits in the first turn costs neither the branch nor the worktree", async () => {
    await using project = await makeProject({
      scenario: `
- do:
    - edit: { file: work.txt, write: "work\\n" }
    - commit: work
    - malformed: "{]"
    - bigLine: 1048576
    - malformed: "\\u0000\\u0001 nothing"
    - exit: 1
`,
    });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    expect(await project.agent("b1")).toMatchObject({ state: "between_turns", ahead: 1 });
    expect(existsSync(join(project.root, ".overstory/worktrees/b1/work.txt"))).toBe(true);
    expect(await project.git("show", "overstory/b1/B1:work.txt")).toBe("work\n");
    expect(await eventsOf(project, "malformed_output")).toHaveLength(2);
    await project.json("stop", "b1");
    expect(await project.git("show", "overstory/b1/B1:work.txt")).toBe("work\n");
    expect(existsSync(join(project.root, ".overstory/worktrees/b1/work.txt"))).toBe(true);
  });

  test("uncommitted and untracked files of an agent that was killed are reachable from a snapshot", async () => {
    await using project = await makeProject({
      files: { "README.md": "# Sample\n", ".gitignore": "*.log\n" },
      scenario: `
- do:
    - edit: { file: done.txt, write: "committed\\n" }
    - commit: one
    - edit: { file: README.md, write: "changed\\n" }
    - edit: { file: notes/new.txt, write: "untracked\\n" }
    - edit: { file: debug.log, write: "ignored\\n" }
    - shell: git add notes
    - edit: { file: notes/new.txt, write: "untracked, then changed\\n" }
    - kill: SIGKILL
`,
    });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    const kept = (path: string) => project.git("show", `refs/overstory/snap/b1/1/1:${path}`);
    expect(await kept("done.txt")).toBe("committed\n");
    expect(await kept("README.md")).toBe("changed\n");
    expect(await kept("notes/new.txt")).toBe("untracked, then changed\n");
    await expect(kept("debug.log")).rejects.toThrow();
    expect(await project.git("-C", ".overstory/worktrees/b1", "status", "--porcelain")).toContain("notes/new.txt");
    expect(await eventsOf(project, "snapshot")).toHaveLength(1);
  });
});
