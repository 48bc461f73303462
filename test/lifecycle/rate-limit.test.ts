import { describe, expect, test } from "bun:test";
import {
  deathNotices,
  moveClock,
  promptsOf,
  queuedTurn,
  ranTurns,
  slingNew,
  startsOf,
  untilAgent,
  untilLaterTurn,
  untilTurns,
} from "../../testkit/lifecycle.ts";
import { makeProject } from "../../testkit/project.ts";

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
    // Counted from the moment it was said, some time before the turn was settled.
    const pause = (parked?.notBefore ?? 0) - (limited?.startedAt ?? 0);
    expect(pause).toBeGreaterThanOrEqual(600_000);
    expect(pause).toBeLessThan(700_000);
    expect(await project.read((tx) => tx.waits.of("b1"))).toMatchObject([{ kind: "rate_limit" }]);
    for (const how of ["question", "dispatch"]) {
      await project.json("mail", "send", "--to", "b1", "--type", how, "--subject", how, "--body", `${how} now`);
    }
    await project.json("nudge", "b1", "hello", "--force");
    // Many times what it would wait without a stated reset.
    await moveClock(project, 500_000);
    await untilLaterTurn(project);
    expect(startsOf(project, "b1")).toHaveLength(2);
    await moveClock(project, 602_000);
    await untilTurns(project, "b1", 3);
    const [, , third] = await ranTurns(project, "b1");
    expect(third).toMatchObject({ attempt: 1, status: "settled", resumeRequested: limited?.resumeObserved ?? "" });
    const [, , prompt = ""] = promptsOf(project, "b1");
    for (const word of ["go on", "question now", "dispatch now", "hello"]) expect(prompt).toContain(word);
    const waits = await project.read((tx) => tx.waits.of("b1"));
    expect(waits.filter(({ kind }) => kind === "rate_limit")).toEqual([]);
    expect(await deathNotices(project, "b1")).toEqual([]);
  }, 120_000);

  test("without a stated reset parks for a minute, then for two, and the first input comes again", async () => {
    await using project = await makeProject({
      scenario: `
- when: { attempt: 1 }
  do: [{ rateLimit: true }]
- when: { attempt: 2 }
  do: [{ rateLimit: true }]
- do: [{ ov: [done, --no-code, --summary, d] }]
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
  }, 120_000);
});
