import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Turn } from "../../src/domain/turn/turn.ts";
import { cases } from "../../testkit/acp-agent/cases.ts";
import { eventsOf, queuedTurn, ranTurns } from "../../testkit/lifecycle.ts";
import { type HeronProject, heronProject } from "./heron.world.ts";

/** One runtime file per case; all of the agents work at the same time, for most of the time is waiting. */
let project: HeronProject;

/** Names of agents are those of their cases. */
const played = Object.keys(cases);
const timeoutMs = 400_000;

beforeAll(async () => {
  project = await heronProject("turn:\n  stallTimeoutMs: 60000\nagents:\n  continuePrompts: 0\n  maxConcurrent: 6\n");
  for (const name of played) project.describe(name, name, name === "mode-refused" ? "mode: ask\n" : "");
  // Waits longest, so it begins first.
  for (const name of ["never-ends", ...played.filter((each) => each !== "never-ends")]) await project.sling(name, name);
}, timeoutMs);
afterAll(async () => project?.[Symbol.asyncDispose](), 60_000);

/** An agent that finished in its first turn, in spite of everything. */
async function finished(name: string): Promise<Turn> {
  await project.done(name);
  const [turn, ...more] = await ranTurns(project, name);
  expect(more).toEqual([]);
  expect(turn).toMatchObject({ clean: true });
  expect(await project.agent(name)).toMatchObject({ ahead: 1, runtime: name, driver: "acp", cliVersion: "4.2.0" });
  if (turn === undefined) throw new Error(`${name} had no turn`);
  return turn;
}

const tokensOf = async ({ id }: Turn) =>
  (await project.read((tx) => tx.usage.ofTurn(id))).map(({ input, output }) => [input, output]);

const malformedOf = async (name: string): Promise<number> =>
  (await eventsOf(project, "malformed_output")).filter(({ agentName }) => agentName === name).length;

function outcome(name: keyof typeof cases & string, promise: string, body: () => Promise<void>): void {
  test(`${name}: ${promise}`, body, timeoutMs);
}

outcome("good", "an agent of a described runtime works, and its tokens and cost are known", async () => {
  const turn = await finished("good");
  expect(turn).toMatchObject({ resultText: "Fertig: grüße 🦉.", costMicros: 250_000, costSource: "reported" });
  expect(await tokensOf(turn)).toEqual([[100, 20]]);
});

outcome("malformed", "lines that are no messages are counted and change nothing", async () => {
  expect(await finished("malformed")).toMatchObject({ resultText: "Fertig: grüße 🦉." });
  expect(await malformedOf("malformed")).toBeGreaterThan(5);
});

outcome("split", "messages that come in pieces, cut inside letters, are read whole", async () => {
  expect(await finished("split")).toMatchObject({ resultText: "Fertig: grüße 🦉." });
  expect(await malformedOf("split")).toBe(0);
});

outcome("huge", "a line of 12 MB does not end the turn", async () => {
  expect(await finished("huge")).toMatchObject({ resultText: "Fertig: grüße 🦉." });
});

outcome("unknown", "unknown notices are passed over, and unknown requests are answered with an error", async () => {
  expect(await finished("unknown")).toMatchObject({ resultText: "Both were answered." });
});

outcome("wrong-ids", "answers to what was never asked, and second answers, count for nothing", async () => {
  const turn = await finished("wrong-ids");
  expect(turn).toMatchObject({ resultText: "The end that counts." });
  expect((await project.agent("wrong-ids")).providerSessionId).toStartWith("heron-");
});

outcome("files-and-terminals", "no file is read or written for the program, and no terminal is opened", async () => {
  expect(await finished("files-and-terminals")).toMatchObject({ resultText: "refused 3, planted false" });
});

outcome("no-options", "what can only be allowed for good, or not at all, is not allowed", async () => {
  expect(await finished("no-options")).toMatchObject({ resultText: "undefined undefined cancelled" });
});

outcome("denied", "the guard decides about each call by what was told of that call", async () => {
  expect(await finished("denied")).toMatchObject({ resultText: expect.stringContaining("undefined yes no") });
  const rules = (await eventsOf(project, "guard_denied"))
    .filter(({ agentName }) => agentName === "denied")
    .map(({ data }) => JSON.parse(data ?? "{}").rule);
  expect(rules).toEqual(["git-push", "git-push"]);
});

for (const name of ["no-load", "load-fails"]) {
  outcome(name, "a conversation that cannot be gone on with is begun anew, and the agent finishes", async () => {
    expect(await project.firstTurn(name)).toMatchObject({ clean: true, resultText: "I wait." });
    const before = (await project.agent(name)).providerSessionId;
    await project.json("mail", "send", "--to", name, "--type", "dispatch", "--subject", "Go", "--body", "Now do it.");
    await project.done(name);
    expect((await ranTurns(project, name)).map(({ failure }) => failure)).toContain("session_lost");
    expect((await project.agent(name)).providerSessionId).not.toBe(before);
  });
}

outcome("never-ends", "a prompt without an end is noticed as silence, and tried again", async () => {
  expect(await project.firstTurn("never-ends")).toMatchObject({ clean: false, error: "stalled" });
  expect((await queuedTurn(project, "never-ends"))?.attempt).toBeGreaterThan(1);
});

outcome("exits-in-the-middle", "the failure has the exit code and the last words of its error output", async () => {
  const { error, clean } = await project.firstTurn("exits-in-the-middle");
  expect(clean).toBe(false);
  expect(error).toContain("exited with 3");
  expect(error).toContain("heron: out of feathers");
});

outcome("half-a-line", "a program that leaves in the middle of a line has not finished its turn", async () => {
  expect(await project.firstTurn("half-a-line")).toMatchObject({ clean: false, failure: "unknown" });
});

outcome("noise-on-stderr", "what stands on the error output is never taken for a message", async () => {
  expect(await finished("noise-on-stderr")).toMatchObject({ resultText: "Fertig: grüße 🦉." });
});

for (const [name, version] of [
  ["other-version", "7"],
  ["no-version", "unknown"],
] as const) {
  outcome(name, "another version of the protocol ends the agent at once, by its number", async () => {
    const turn = await project.firstTurn(name);
    expect(turn).toMatchObject({ clean: false, failure: "program" });
    expect(turn.error).toContain(`version ${version} of the Agent Client Protocol`);
    expect(await project.agent(name)).toMatchObject({ state: "zombie" });
  });
}

outcome("login-required", "a missing login ends the agent at once, with what its file says to do", async () => {
  const turn = await project.firstTurn("login-required");
  expect(turn).toMatchObject({ clean: false, failure: "login" });
  expect(turn.advice).toContain("heron login");
  expect(await project.agent("login-required")).toMatchObject({ state: "zombie" });
});

outcome("rate-limit", "a limit parks the agent and uses up no attempt", async () => {
  expect(await project.firstTurn("rate-limit")).toMatchObject({ failure: "rate_limit" });
  expect(await queuedTurn(project, "rate-limit")).toMatchObject({ trigger: "retry", attempt: 1 });
});

for (const name of ["internal-error", "empty-error"]) {
  outcome(name, "an error without a cause is tried again", async () => {
    expect(await project.firstTurn(name)).toMatchObject({ clean: false, failure: "unknown" });
    expect((await queuedTurn(project, name))?.attempt).toBeGreaterThan(1);
  });
}

outcome("mode-refused", "a mode that the program does not have ends the agent by that name", async () => {
  expect(await project.firstTurn("mode-refused")).toMatchObject({ clean: false, failure: "mode" });
});

outcome("odd-end", "an end of the turn that is no known one is no success", async () => {
  expect(await project.firstTurn("odd-end")).toMatchObject({ clean: false });
});

outcome("without-usage", "tokens that are not told are not known, and the cost neither", async () => {
  const turn = await finished("without-usage");
  expect(await tokensOf(turn)).toEqual([]);
  expect(turn.costMicros).toBeNull();
});
