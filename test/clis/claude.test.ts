import { expect } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import type { Turn } from "../../src/domain/turn/turn.ts";
import { testWithCli } from "../../testkit/agent-clis/installed.ts";
import { claudeProject, conversation, scripted, shellOf, textOf } from "../../testkit/claude.ts";
import { type FakeModel, startFakeModel } from "../../testkit/fake-model/server.ts";
import { eventsOf, ranTurns } from "../../testkit/lifecycle.ts";
import type { TestProject } from "../../testkit/project.ts";
import { outputIn } from "../../testkit/turn-output.ts";

testWithCli(
  "claude",
  "the real CLI reads its instructions, uses our tools, commits, finishes, is reopened in the same conversation, and lands",
  async (binDir) => {
    await using model = startFakeModel();
    await using project = await claudeProject(binDir, withoutHooks);
    const secret = join(project.home, "secret.txt");
    writeFileSync(secret, "open sesame\n");
    const first = scripted(
      { tool: "mcp__overstory__checkpoint", input: { progress: "I have begun" } },
      { status: 500 },
      {
        tool: "Write",
        input: { file_path: join(project.root, ".overstory/worktrees/b1/.claude/settings.local.json"), content: "{}" },
      },
      { shell: "env A=b git push origin HEAD" },
      { tool: "Agent", input: { description: "help", prompt: "help me", subagent_type: "general-purpose" } },
      { tool: "Write", input: { file_path: join(project.root, ".overstory/worktrees/b1/strayed.txt"), content: "x" } },
      { shell: "rm strayed.txt" },
      { shell: "echo hello > greeting.txt && git add greeting.txt && git commit --quiet -m 'Add a greeting'" },
      { tool: "mcp__overstory__finish", input: { summary: "The greeting is there." } },
      { text: "All done." },
    );
    const task = ["--id", "T1", "--description", `Say hello.\n@${secret}\n${first}`];
    await project.json("task", "create", `Greet @${secret}`, ...task);
    await sling(project, model);
    await finished(project, 1);

    const opening = conversation(model)[0];
    const read = textOf(opening);
    // Its instruction file, the assignment in it, and the mail that starts it.
    expect(read).toContain(".overstory/worktrees/b1/.claude/CLAUDE.md");
    expect(read).toContain("You are: `b1` (builder)");
    expect(read).toContain("[OVERSTORY] You are b1, a builder, task T1.");
    const tools = (opening?.asked?.tools ?? []).map(({ name }) => name);
    expect(tools).toContain("Bash");
    for (const name of ["inbox", "checkpoint", "finish"]) expect(tools).toContain(`mcp__overstory__${name}`);
    expect(tools).not.toContain("mcp__overstory__spawn");
    expect(opening?.headers["x-api-key"]).toBe("sk-fake-0123456789");
    // What our tools say reaches the model as they say it.
    expect(textOf(conversation(model).at(-1))).toContain("Noted.");
    expect(textOf(conversation(model).at(-1))).toContain("Finished; your parent has been told. End your turn now.");
    expect(await project.read((tx) => tx.recovery.checkpoint("b1"))).toMatchObject({ summary: "I have begun" });
    expect(await eventsOf(project, "retry")).toHaveLength(1);
    // What the guard denies is told to the model with its reason and put on record; the turn goes on.
    const denials = (await eventsOf(project, "guard_denied")).map(({ agentName, data }) => [agentName, ruleIn(data)]);
    expect(denials).toEqual([
      ["b1", "guard-files"],
      ["b1", "git-push"],
    ]);
    const told = textOf(conversation(model).at(-1));
    for (const reason of ["steers agents and git", "by the operator alone", "No such tool available: Agent"]) {
      expect(told).toContain(reason);
    }
    expect(told).toContain("This file is outside your file scope (greeting.txt, farewell.txt)");
    // Mail is the input of turns: no hook handed any over, and none of a person's own session is at work.
    expect((await eventsOf(project, "tool_start")).filter(({ source }) => source === "hook")).toEqual([]);
    const calls = (await eventsOf(project, "tool_end")).map(({ data }) => JSON.parse(data ?? "null"));
    expect(calls.length).toBeGreaterThan(3);
    for (const call of calls) {
      const summary = call.tool === "Bash" ? expect.any(String) : call.summary;
      expect(call).toMatchObject({ tool: expect.any(String), summary, durationMs: expect.any(Number) });
    }
    const before = await project.agent("b1");
    expect(before).toMatchObject({ outcome: "done", ahead: 1, dirty: false });
    const answered = conversation(model).length - 1;
    const price = costOf((await ranTurns(project, "b1"))[0]) / answered;

    const known = model.seen.length;
    const second = scripted(
      { shell: "echo bye > farewell.txt && git add farewell.txt && git commit --quiet -m 'Add a farewell'" },
      { shell: "ov done --summary 'Both are there.'" },
      { text: "Done again." },
    );
    const more = ["--to", "b1", "--type", "dispatch", "--subject", "More", "--body", `Say bye. @${secret} ${second}`];
    await project.json("mail", "send", ...more);
    await finished(project, 2);

    const after = await project.agent("b1");
    expect(after).toMatchObject({ outcome: "done", ahead: 2, providerSessionId: before.providerSessionId });
    const session = `${before.providerSessionId}.jsonl`;
    expect([...new Glob(`.claude/projects/*/${session}`).scanSync({ cwd: project.home, dot: true })]).toHaveLength(1);
    const again = textOf(conversation(model, known)[0]);
    expect(again).toContain("The greeting is there.");
    expect(again).toContain("All done.");
    expect(again).toContain("| Say bye.");
    expect(textOf(conversation(model).at(-1))).toContain("your work was accepted and reported");
    // Mail and task texts are words: a file that they mention was never opened for them.
    for (const request of model.seen) expect(textOf(request)).not.toContain("open sesame");

    // Every answer of this model costs the same, so two turns cost what their answers do, counted once.
    const answers = conversation(model).length - 1;
    expect(answers).toBeGreaterThan(answered);
    const ledgers = await project.read((tx) => tx.budgets.of([{ scope: "agent", subject: "b1" }]));
    const spent = Object.fromEntries(ledgers.map((ledger) => [ledger.unit, ledger.spent]));
    expect(spent).toMatchObject({ tokens: answers * 120, turns: 2, usd: Math.round(answers * price * 1e6) });
    const [turn] = await ranTurns(project, "b1");
    expect(turn).toMatchObject({ clean: true, resumeObserved: before.providerSessionId, resultText: "Done again." });

    expect(await project.json("merge", "--branch", "overstory/b1/T1")).toMatchObject({ success: true });
    // The agent's first report was queued for approval, and superseded when the agent was reopened.
    const entry = (await project.read((tx) => tx.merges.list({}))).at(-1);
    expect(entry).toMatchObject({ status: "merged", verdict: "verified", approval: "operator" });
    const landed = await project.git("ls-tree", "--name-only", "-r", entry?.targetBranch ?? "");
    expect(landed.trim().split("\n")).toEqual([".claude/settings.json", "README.md", "farewell.txt", "greeting.txt"]);
    expect(await project.read((tx) => tx.tasks.get("T1"))).toMatchObject({ status: "closed" });
    await project.until("every process had ended", async () => project.processes().length === 0);
  },
  { timeoutMs: 300_000 },
);

testWithCli(
  "claude",
  "with an input that stays open the real CLI asks about files that it holds for sensitive, and does what the guard says",
  async (binDir) => {
    await using model = startFakeModel();
    await using project = await claudeProject(binDir);
    const editor = ".vscode/settings.json";
    const steps = scripted(
      { tool: "Write", input: { file_path: "/etc/strayed.txt", content: "x" } },
      { tool: "Write", input: { file_path: join(project.root, ".overstory/worktrees/b1", editor), content: "{}" } },
      { shell: "echo hello > greeting.txt && git add --all && git commit --quiet -m 'Add a greeting'" },
      { tool: "mcp__overstory__finish", input: { summary: "The greeting is there." } },
      { text: "All done." },
    );
    await project.json("task", "create", "Greet", "--id", "T1", "--description", `Say hello.\n${steps}`);
    await sling(project, model, "claude:control");
    await finished(project, 1);
    const [turn] = await ranTurns(project, "b1");
    expect(turn).toMatchObject({ clean: true, exitCode: 0 });
    expect(await project.agent("b1")).toMatchObject({ driver: "control", ahead: 1 });
    expect(await project.git("ls-tree", "--name-only", "-r", "overstory/b1/T1")).toContain(editor);
    expect(readdirSync(join(turn?.logDir ?? "", "input/given")).length).toBeGreaterThan(0);
    expect(existsSync("/etc/strayed.txt")).toBe(false);
  },
  { timeoutMs: 120_000 },
);

testWithCli(
  "claude",
  "mail that comes while the real CLI works is put before its model in the same turn, and it finishes at its first try",
  async (binDir) => {
    await using model = startFakeModel();
    await using project = await claudeProject(binDir);
    const [working, go] = ["working", "go"].map((name) => join(project.home, name));
    const steps = scripted(
      // The moment at the end is for the CLI to read its input before it asks its model again.
      { shell: `touch ${working}; until [ -e ${go} ]; do sleep 0.1; done; sleep 1` },
      { shell: "echo hello > greeting.txt && git add greeting.txt && git commit --quiet -m 'Add a greeting'" },
      { tool: "mcp__overstory__finish", input: { summary: "The greeting is there." } },
      { text: "All done." },
    );
    await project.json("task", "create", "Greet", "--id", "T1", "--description", `Say hello.\n${steps}`);
    await sling(project, model, "claude:control");
    await project.until("it worked", async () => existsSync(working ?? ""), 120_000);
    const { id } = await project.json("mail", "send", "--to", "b1", "--subject", "Dates", "--body", "Use UTC");
    const delivery = () =>
      project.read(async (tx) => tx.deliveries.get((await tx.messages.get(String(id)))?.seq ?? 0, "b1"));
    // Mail is taken for the turn before it is written; what the CLI was given is in the directory of its turn.
    const given = async () => readdirSync(join((await ranTurns(project, "b1"))[0]?.logDir ?? "", "input/given"));
    await project.until("the CLI was given it", async () => (await given()).some((name) => name.startsWith("mail-")));
    writeFileSync(go ?? "", "");
    await finished(project, 1);
    const requests = conversation(model);
    expect(textOf(requests[0])).not.toContain("| Use UTC");
    expect(textOf(requests[1])).toContain("| Use UTC");
    expect(await eventsOf(project, "completion_refused")).toEqual([]);
    expect(await ranTurns(project, "b1")).toHaveLength(1);
    expect(await delivery()).toMatchObject({ state: "acked", channel: "steer" });
  },
  { timeoutMs: 240_000 },
);

/** Its own settings switch hooks off, as a person's may: that must not reach the guard of agents. */
const withoutHooks = {
  files: { "README.md": "# Sample\n", ".claude/settings.json": '{"disableAllHooks": true}\n' },
  gates: ["test ! -e broken.txt"],
};

const scope = ["--files", "greeting.txt,farewell.txt"];

/** Only this command knows the provider; all turns of the agent must do with what was captured then. */
async function sling(project: TestProject, model: FakeModel, runtime = "claude"): Promise<void> {
  const env = shellOf(model, project);
  const answer = await project.ovWith({ env }, "sling", "T1", "--name", "b1", "--runtime", runtime, ...scope);
  expect(answer).toMatchObject({ code: 0 });
}

/** A turn that failed would be tried again for minutes; its reason is what one wants to read. */
async function finished(project: TestProject, generation: number): Promise<void> {
  const done = async (): Promise<boolean> => {
    const failed = (await ranTurns(project, "b1")).find((turn) => turn.endedAt !== null && turn.clean !== true);
    if (failed !== undefined) throw new Error(`a turn failed: ${failed.error}\n${outputOf(failed)}`);
    const agent = await project.read((tx) => tx.agents.byName("b1"));
    return agent?.generation === generation && agent.state === "completed";
  };
  await project.until(`generation ${generation} was done`, done, 120_000);
}

const ruleIn = (data: string | null): unknown => JSON.parse(data ?? "{}").rule;

/** What the CLI says that a first turn cost. */
function costOf(turn: Turn | undefined): number {
  const result: { readonly total_cost_usd: number } = JSON.parse(outputOf(turn).trim().split("\n").at(-1) ?? "");
  expect(result.total_cost_usd).toBeGreaterThan(0);
  return result.total_cost_usd;
}

function outputOf(turn: Turn | undefined): string {
  return outputIn(turn?.logDir ?? "");
}
