import { describe, expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
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
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { makeProject, type TestProject } from "../../testkit/project.ts";

const asks = "{ ov: [mail, send, --to, operator, --type, question, --subject, q, --body, which?] }";
const finishes = "{ ov: [done, --no-code, --summary, d] }";

/** What the agent's program keeps of its conversations is gone, as after a clean-up of a home directory. */
function loseConversations({ home }: TestProject): void {
  const dir = join(home, ".scripted-agent", "sessions");
  expect(readdirSync(dir)).not.toEqual([]);
  rmSync(dir, { recursive: true });
}

async function answer(project: TestProject, from: string): Promise<void> {
  const [question] = await project.read((tx) => tx.messages.list({ from, type: "question" }));
  await project.json("mail", "reply", question?.id ?? "", "--body", "the left one");
}

describe("a conversation that cannot go on", () => {
  test("is begun anew, once, with who it is, where it stood, its work and its mail", async () => {
    await using project = await makeProject({
      scenario: `
- when: { attempt: 1 }
  do: [${asks}, { say: "I looked at both and wait for a word." }]
- do: [${finishes}]
`,
    });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    loseConversations(project);
    await answer(project, "b1");
    await untilAgent(project, "b1", "completed/done");
    const turns = await ranTurns(project, "b1");
    expect(turns).toMatchObject([
      { status: "settled", attempt: 1 },
      { status: "failed", attempt: 1, failure: "session_lost" },
      { status: "settled", attempt: 1, resumeRequested: null, failure: null },
    ]);
    const prompt = promptsOf(project, "b1").at(-1) ?? "";
    expect(prompt).toContain("[OVERSTORY] You are b1, a builder, task B1.");
    expect(prompt).toContain("| I looked at both and wait for a word.");
    expect(prompt).toContain("subject: Dispatch: B1");
    expect(prompt).toContain("| the left one");
    // Nobody was told of a death, and every letter was acknowledged once.
    expect(await deathNotices(project, "b1")).toEqual([]);
    expect(await project.json("mail", "dead")).toMatchObject({ messages: [] });
  }, 120_000);

  test("does not keep an agent from being recovered", async () => {
    await using project = await makeProject({
      scenario: `
- when: { attempt: 1 }
  do: [${asks}, { say: half of it }]
- do: [${finishes}]
`,
    });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    await project.json("stop", "b1");
    loseConversations(project);
    await project.json("recover", "b1");
    await untilAgent(project, "b1", "completed/done");
    expect(await ranTurns(project, "b1")).toMatchObject([
      { failure: "session_lost" },
      { status: "settled", resumeRequested: null },
    ]);
    expect(promptsOf(project, "b1").at(-1)).toContain("You are generation 2 of b1");
  }, 120_000);

  test("because it is too long is begun anew; when its very first prompt is too long the agent ends", async () => {
    await using project = await makeProject({
      scenario: `
- when: { agent: b2 }
  do: [{ fail: context_full }]
- when: { attempt: 1 }
  do: [${asks}]
- when: { attempt: 2 }
  do: [{ fail: context_full }]
- do: [${finishes}]
`,
    });
    await slingNew(project, "B1");
    await slingNew(project, "B2");
    await untilTurns(project, "b1", 1);
    await answer(project, "b1");
    await untilAgent(project, "b1", "completed/done");
    expect((await ranTurns(project, "b1")).map(({ failure }) => failure)).toEqual([null, "context_full", null]);
    await untilAgent(project, "b2", "zombie/crashed");
    expect(startsOf(project, "b2")).toHaveLength(1);
    const [notice] = await deathNotices(project, "b2");
    expect(notice?.body).toContain("ov recover b2 --fresh");
  }, 120_000);
});

test.each(["overloaded", "server_error", "network"] as const)(
  "%s parks, uses no attempt, and goes on by itself",
  async (cause) => {
    await using project = await makeProject({
      scenario: `
- when: { attempt: 1 }
  do: [{ fail: ${cause} }]
- do: [${finishes}]
`,
    });
    await slingNew(project, "B1");
    await untilTurns(project, "b1", 1);
    const [first] = await ranTurns(project, "b1");
    expect(first).toMatchObject({ status: "failed", failure: cause });
    const parked = await queuedTurn(project, "b1");
    expect(parked).toMatchObject({ trigger: "retry", attempt: 1, notBefore: (first?.endedAt ?? 0) + 10_000 });
    const { agents } = await project.json("status");
    expect(agents).toMatchObject([
      { failure: cause, advice: expect.stringContaining("ov stop b1"), nextTry: expect.any(String) },
    ]);
    expect((await project.ov("status")).out).toContain("tries again by itself");
    await moveClock(project, 11_000);
    await untilAgent(project, "b1", "completed/done");
    expect(await ranTurns(project, "b1")).toMatchObject([{}, { attempt: 1, status: "settled" }]);
  },
  120_000,
);

test.each([
  ["login", "log in"],
  ["credit", "add credit"],
  ["model", "ov release b1"],
  ["refusal", "ov recover b1 --fresh"],
  ["mode", "ov recover b1"],
] as const)(
  "%s ends the agent at once, and inbox and status say what to do",
  async (cause, next) => {
    await using project = await makeProject({
      scenario: `
- when: { agent: l, turn: 1 }
  do: [{ ov: [sling, B1, --name, b1] }]
- when: { agent: l }
  do: [{ ov: [mail, send, --to, operator, --type, question, --subject, "q\${turn}", --body, "now? \${turn}"] }]
- do: [{ fail: ${cause} }]
`,
    });
    await project.json("task", "create", "B1", "--id", "B1");
    await slingNew(project, "L", "--capability", "lead");
    await untilAgent(project, "b1", "zombie/crashed");
    expect(startsOf(project, "b1")).toHaveLength(1);
    expect(await queuedTurn(project, "b1")).toBeUndefined();
    expect(await deathNotices(project, "b1")).toHaveLength(1);
    expect((await project.ov("status", "--all")).out).toContain(next);
    const told = await project.read((tx) => tx.messages.list({ to: "operator", type: "escalation" }));
    expect(told).toMatchObject([
      { subject: expect.stringContaining("b1 ended: "), body: expect.stringContaining(next) },
    ]);
    expect((await project.ov("inbox")).out).toContain(next);
  },
  120_000,
);
