import { expect } from "bun:test";
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { testWithCli } from "../../testkit/agent-clis/installed.ts";
import { claudeProject, conversation, scripted, shellOf, textOf } from "../../testkit/claude.ts";
import type { Step } from "../../testkit/fake-model/script.ts";
import { type FakeModel, startFakeModel } from "../../testkit/fake-model/server.ts";
import { queuedTurn, ranTurns, untilAgent, untilTurns } from "../../testkit/lifecycle.ts";
import type { TestProject } from "../../testkit/project.ts";

const finish: readonly Step[] = [
  { tool: "mcp__overstory__finish", input: { summary: "There is nothing to do." } },
  { text: "Done." },
];

async function sling(
  project: TestProject,
  model: FakeModel,
  { steps, env = {}, flags = [] }: { steps: readonly Step[]; env?: Record<string, string>; flags?: readonly string[] },
): Promise<void> {
  await project.json("task", "create", "Look", "--id", "T1", "--description", `Look. ${scripted(...steps)}`);
  const call = { env: { ...shellOf(model, project), ...env } };
  const words = ["T1", "--name", "b1", "--capability", "scout", "--runtime", "claude", ...flags];
  expect(await project.ovWith(call, "sling", ...words)).toMatchObject({ code: 0 });
}

testWithCli(
  "claude",
  "a conversation that the real CLI no longer has is begun anew with the work and the mail",
  async (binDir) => {
    await using model = startFakeModel();
    await using project = await claudeProject(binDir);
    const ask = "ov mail send --to operator --type question --subject Which --body 'left or right?'";
    await sling(project, model, { steps: [{ shell: ask }, { text: "I wait for a word." }] });
    await untilTurns(project, "b1", 1);
    const { providerSessionId } = await project.agent("b1");
    const kept = [
      ...new Glob(`.claude/projects/*/${providerSessionId}.jsonl`).scanSync({ cwd: project.home, dot: true }),
    ];
    expect(kept).toHaveLength(1);
    for (const file of kept) rmSync(join(project.home, file));
    const [question] = await project.read((tx) => tx.messages.list({ from: "b1", type: "question" }));
    const known = model.seen.length;
    await project.json("mail", "reply", question?.id ?? "", "--body", `left ${scripted(...finish)}`);
    await untilAgent(project, "b1", "completed/done");
    expect(await ranTurns(project, "b1")).toMatchObject([
      { status: "settled" },
      { status: "failed", failure: "session_lost" },
      { status: "settled", attempt: 1, resumeRequested: null },
    ]);
    const told = textOf(conversation(model, known)[0]);
    for (const words of ["You are b1, a scout", "I wait for a word.", "Dispatch: T1", "| left"])
      expect(told).toContain(words);
  },
  { timeoutMs: 120_000 },
);

testWithCli(
  "claude",
  "one long answer is no silence, nothing goes on in the background, and the hooks of the checkout's person stay there",
  async (binDir) => {
    await using model = startFakeModel();
    // More than the start of the program takes on a busy machine, and less than the answer takes.
    await using project = await claudeProject(binDir, { config: "turn:\n  stallTimeoutMs: 12000\n" });
    const ran = join(project.home, "hook-ran");
    mkdirSync(join(project.root, ".claude"));
    const hooks = { Stop: [{ hooks: [{ type: "command", command: `touch ${ran}` }] }] };
    writeFileSync(join(project.root, ".claude", "settings.local.json"), JSON.stringify({ hooks }));
    const steps: readonly Step[] = [
      { tool: "Bash", input: { command: "tail -f /dev/null", description: "wait", run_in_background: true } },
      { tool: "mcp__overstory__finish", input: { summary: "There is nothing to do." } },
      { text: "word ".repeat(24), pieces: 24, pauseMs: 600 },
    ];
    await sling(project, model, { steps });
    await untilAgent(project, "b1", "completed/done");
    const [turn, ...more] = await ranTurns(project, "b1");
    expect(more).toEqual([]);
    expect(turn).toMatchObject({ clean: true, resultText: "word ".repeat(24) });
    expect(textOf(conversation(model).at(-1))).toContain("run_in_background");
    expect(existsSync(ran)).toBe(false);
    await project.until("every process had ended", async () => project.processes().length === 0);
  },
  { timeoutMs: 120_000 },
);

testWithCli(
  "claude",
  "a key that is refused ends the agent before the CLI has tried it ten times",
  async (binDir) => {
    await using model = startFakeModel();
    await using project = await claudeProject(binDir);
    const refused = { status: 401, times: 50, type: "authentication_error", message: "invalid x-api-key" };
    await sling(project, model, { steps: [refused, ...finish], env: { CLAUDE_CODE_MAX_RETRIES: "10" } });
    await untilAgent(project, "b1", "zombie/crashed");
    expect(await ranTurns(project, "b1")).toMatchObject([
      { failure: "login", advice: expect.stringContaining("claude auth login") },
    ]);
    expect(conversation(model).length).toBeLessThan(8);
    expect((await project.ov("status", "--all")).out).toContain("claude auth login");
    expect((await project.ov("inbox")).out).toContain("ov recover b1");
  },
  { timeoutMs: 120_000 },
);

testWithCli(
  "claude",
  "an overloaded model parks the agent, a refusal ends it",
  async (binDir) => {
    await using model = startFakeModel();
    await using project = await claudeProject(binDir);
    const overloaded = { status: 529, times: 50, type: "overloaded_error", message: "Overloaded" };
    await sling(project, model, { steps: [overloaded, ...finish], env: { CLAUDE_CODE_MAX_RETRIES: "1" } });
    await untilTurns(project, "b1", 1);
    expect(await ranTurns(project, "b1")).toMatchObject([{ failure: "overloaded" }]);
    expect(await queuedTurn(project, "b1")).toMatchObject({ trigger: "retry", attempt: 1 });

    const refusing = scripted({ text: "No.", stop: "refusal" }, { text: "No.", stop: "refusal" });
    await project.json("task", "create", "Other", "--id", "T2", "--description", refusing);
    const call = { env: shellOf(model, project) };
    await project.ovWith(call, "sling", "T2", "--name", "b2", "--capability", "scout", "--runtime", "claude");
    await untilAgent(project, "b2", "zombie/crashed");
    expect(await ranTurns(project, "b2")).toMatchObject([{ failure: "refusal" }]);
  },
  { timeoutMs: 120_000 },
);

testWithCli(
  "claude",
  "a budget is kept within a turn: the real CLI stops at what its agent has left",
  async (binDir) => {
    await using model = startFakeModel();
    await using project = await claudeProject(binDir, { config: "budgets: { agent: { usd: 0.004 } }\n" });
    const steps: Step[] = Array.from({ length: 30 }, () => ({ shell: "ls" }));
    await sling(project, model, { steps });
    await untilTurns(project, "b1", 1);
    expect(await ranTurns(project, "b1")).toMatchObject([{ failure: "budget", attempt: 1 }]);
    const ledgers = await project.read((tx) => tx.budgets.of([{ scope: "agent", subject: "b1" }]));
    const spent = ledgers.find(({ unit }) => unit === "usd")?.spent ?? 0;
    // One call of this model costs less than a quarter of the budget, and the one that reaches it is paid for.
    expect(spent).toBeGreaterThanOrEqual(4_000);
    expect(spent).toBeLessThan(5_000);
    const waits = () => project.read((tx) => tx.waits.of("b1"));
    await project.until("it was parked", async () => (await waits()).some(({ kind }) => kind === "budget"));
  },
  { timeoutMs: 120_000 },
);

for (const cli of ["claude", "claude-2.1.197"] as const) {
  testWithCli(
    cli,
    `${cli} goes on with the fallback model of the settings while its own is overloaded`,
    async (binDir) => {
      await using model = startFakeModel();
      await using project = await claudeProject(binDir);
      await project.json("config", "set", "runtime.fallbackModels.claude", "haiku");
      const overloaded = { status: 529, times: 3, type: "overloaded_error", message: "Overloaded" };
      const steps = [overloaded, ...finish];
      await sling(project, model, { steps, env: { CLAUDE_CODE_MAX_RETRIES: "10" }, flags: ["--model", "opus"] });
      await untilAgent(project, "b1", "completed/done");
      expect(await ranTurns(project, "b1")).toMatchObject([{ status: "settled", attempt: 1 }]);
      const asked = conversation(model).map((request) => request.asked?.model ?? "");
      expect(asked.slice(0, 3)).toEqual(Array(3).fill(expect.stringContaining("opus")));
      expect(asked.slice(3)).toEqual(asked.slice(3).map(() => expect.stringContaining("haiku")));
      expect(asked.length).toBeGreaterThan(3);
    },
    { timeoutMs: 120_000 },
  );

  testWithCli(
    cli,
    `${cli} in a mode that was not asked for ends its agent by name`,
    async (binDir) => {
      await using model = startFakeModel();
      await using project = await claudeProject(binDir);
      const planning = {
        PATH: `${wrapped(project, binDir, '"$0.real" "$@" --permission-mode plan')}:${process.env.PATH}`,
      };
      await sling(project, model, { steps: finish, env: planning });
      await untilAgent(project, "b1", "zombie/crashed");
      expect(await ranTurns(project, "b1")).toMatchObject([
        { failure: "mode", error: expect.stringContaining("plan"), attempt: 1 },
      ]);
    },
    { timeoutMs: 120_000 },
  );

  testWithCli(
    cli,
    `${cli} whose tool server ends at once fails the turn by name`,
    async (binDir) => {
      await using model = startFakeModel();
      await using project = await claudeProject(binDir);
      // The server refuses to serve an agent that it cannot know.
      const unknown = {
        PATH: `${wrapped(project, binDir, 'env -u OVERSTORY_TOKEN "$0.real" "$@"')}:${process.env.PATH}`,
      };
      await sling(project, model, { steps: finish, env: unknown });
      await untilTurns(project, "b1", 1);
      expect((await ranTurns(project, "b1"))[0]).toMatchObject({
        status: "failed",
        failure: "tools",
        error: expect.stringContaining("overstory"),
      });
      expect(await queuedTurn(project, "b1")).toMatchObject({ trigger: "retry", attempt: 2 });
    },
    { timeoutMs: 120_000 },
  );
}

/** A directory with a program of the person's own that runs the real CLI so, as wrappers do. */
function wrapped(project: TestProject, binDir: string, line: string): string {
  const dir = join(project.home, "wrappers");
  mkdirSync(dir);
  symlinkSync(join(binDir, "claude"), join(dir, "claude.real"));
  writeFileSync(join(dir, "claude"), `#!/bin/sh\nexec ${line}\n`, { mode: 0o755 });
  return dir;
}
