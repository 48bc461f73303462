import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  deathNotices,
  moveClock,
  promptsOf,
  queuedTurn,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

/** Waits until so many turns have ended, and none runs. */
const untilTurns = (project: TestProject, name: string, count: number): Promise<void> =>
  project.until(`turn ${count} of ${name} had ended`, async () => {
    const turns = await ranTurns(project, name);
    return turns.length === count && turns.every(({ endedAt }) => endedAt !== null);
  });

const events = (project: TestProject, type: string) =>
  project.read(async (tx) => (await tx.events.after(0, 1_000)).filter((event) => event.type === type));

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
    await Bun.sleep(150);
    expect(startsOf(project, "b1")).toHaveLength(index + 1);
    clock += backOff;
    await moveClock(project, clock);
  }
  await untilAgent(project, "b1", "zombie/crashed");
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
  expect(reported.filter(({ subject }) => subject.startsWith("Not delivered"))).toHaveLength(4);
});

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
  let clock = 0;
  for (const [index, backOff] of [5_000, 30_000, 120_000].entries()) {
    await untilTurns(project, "b1", index + 1);
    if (index === 0) await project.json("mail", "send", "--to", "b1", "--subject", "Hint", "--body", "look left");
    clock += backOff;
    await moveClock(project, clock);
  }
  await untilAgent(project, "b1", "zombie/crashed");
  await untilTurns(project, "l", 2);
  const [, told = ""] = promptsOf(project, "l");
  expect(told).toContain("worker_died: b1");
  expect(told).toContain("look left");
  // Its own dispatch does not come back to the lead, so that is the one dead letter.
  expect(await project.json("mail", "dead")).toMatchObject({ messages: [{ subject: "Dispatch: B1", from: "l" }] });
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
    expect(await events(project, "malformed_output")).toHaveLength(2);
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
    expect(kept("debug.log")).rejects.toThrow();
    expect(await project.git("-C", ".overstory/worktrees/b1", "status", "--porcelain")).toContain("notes/new.txt");
    expect(await events(project, "snapshot")).toHaveLength(1);
  });
});

describe("a rate limit", () => {
  const asking = `[mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "next? \${turn}"]`;

  test("with a stated reset parks until then, starts nothing for new mail, and uses no attempt", async () => {
    await using project = await makeProject({
      scenario: `
- when: { turn: 1 }
  do: [{ ov: ${asking} }]
- when: { turn: 2 }
  do: [{ rateLimit: { resetInMs: 600000, retries: 2 } }]
- do: [{ ov: ${asking} }]
`,
    });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    const [question] = await project.read((tx) => tx.messages.list({ from: "b1", type: "question" }));
    await project.json("mail", "reply", question?.id ?? "", "--body", "go on");
    await untilTurns(project, "b1", 2);
    const [, limited] = await ranTurns(project, "b1");
    const parked = await queuedTurn(project, "b1");
    expect(parked).toMatchObject({ trigger: "retry", attempt: 1 });
    const pause = (parked?.notBefore ?? 0) - (limited?.endedAt ?? 0);
    expect(Math.abs(pause - 600_000)).toBeLessThan(5_000);
    expect(await project.read((tx) => tx.waits.of("b1"))).toMatchObject([{ kind: "rate_limit" }]);
    for (const how of ["question", "dispatch"]) {
      await project.json("mail", "send", "--to", "b1", "--type", how, "--subject", how, "--body", `${how} now`);
    }
    await project.json("nudge", "b1", "hello", "--force");
    await moveClock(project, 590_000);
    await Bun.sleep(400);
    expect(startsOf(project, "b1")).toHaveLength(2);
    await moveClock(project, 606_000);
    await untilTurns(project, "b1", 3);
    const [, , third] = await ranTurns(project, "b1");
    expect(third).toMatchObject({ attempt: 1, status: "settled", resumeRequested: limited?.resumeObserved ?? "" });
    const [, , prompt = ""] = promptsOf(project, "b1");
    for (const word of ["go on", "question now", "dispatch now", "hello"]) expect(prompt).toContain(word);
    const waits = await project.read((tx) => tx.waits.of("b1"));
    expect(waits.filter(({ kind }) => kind === "rate_limit")).toEqual([]);
    expect(await deathNotices(project, "b1")).toEqual([]);
  });

  test("without a stated reset parks for a minute, then for two, and the first input comes again", async () => {
    await using project = await makeProject({
      scenario: `
- when: { attempt: 1 }
  do: [{ rateLimit: true }]
- when: { attempt: 2 }
  do: [{ rateLimit: true }]
- do: [{ ov: [mail, send, --to, operator, --type, worker_done, --subject, d, --body, d] }]
`,
    });
    await slingNew(project, "B1");
    let clock = 0;
    for (const [index, pause] of [60_000, 120_000].entries()) {
      await untilTurns(project, "b1", index + 1);
      const turns = await ranTurns(project, "b1");
      const parked = await queuedTurn(project, "b1");
      expect((parked?.notBefore ?? 0) - (turns.at(-1)?.endedAt ?? 0)).toBe(pause);
      clock += pause;
      await moveClock(project, clock);
    }
    await untilAgent(project, "b1", "completed/done");
    expect(promptsOf(project, "b1").map((prompt) => prompt.includes("Dispatch: B1"))).toEqual([true, true, true]);
  });
});

test("the conversation is resumed turn by turn, and one that comes back under another id is put on record", async () => {
  await using project = await makeProject({
    scenario: `
- when: { turn: 2 }
  do:
    - newSessionId: true
    - ov: [mail, send, --to, operator, --type, question, --subject, q2, --body, second]
- do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "question \${turn}"] }]
`,
  });
  await slingNew(project, "B1");
  const sessions: (string | null)[] = [];
  for (const turn of [1, 2, 3]) {
    await untilTurns(project, "b1", turn);
    sessions.push((await project.agent("b1")).providerSessionId);
    const [question] = await project.read((tx) => tx.messages.list({ from: "b1", type: "question" }));
    if (turn < 3) await project.json("mail", "reply", question?.id ?? "", "--body", `answer ${turn}`);
  }
  const [first, second] = sessions;
  expect(first).not.toBe(second);
  const resumed = startsOf(project, "b1").map(({ argv }) => {
    const at = argv.indexOf("--resume");
    return at < 0 ? null : argv[at + 1];
  });
  expect(resumed).toEqual([null, first ?? "", second ?? ""]);
  const mismatches = await events(project, "resume_mismatch");
  expect(mismatches.map(({ data }) => JSON.parse(String(data)))).toEqual([
    { requestedSessionId: first, observedSessionId: second },
  ]);
});

test("a bare worker_done without commits is delivered flagged as unverified", async () => {
  await using project = await makeProject({
    scenario: "- do: [{ ov: [mail, send, --to, operator, --type, worker_done, --subject, Done, --body, trust me] }]\n",
  });
  await slingNew(project, "B1");
  await untilAgent(project, "b1", "completed/done");
  const [report] = await project.read((tx) => tx.messages.list({ from: "b1", type: "worker_done" }));
  expect(JSON.parse(report?.payload ?? "{}")).toMatchObject({ unverified: true, taskId: "B1" });
  expect((await project.ov("mail", "check")).out).toContain("unverified");
});
