import { expect } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { noTokens, type TokenCounts } from "../../../src/domain/budget/usage.ts";
import type { Turn } from "../../../src/domain/turn/turn.ts";
import { aboutProcess } from "../../about-process.ts";
import { eventsOf } from "../../lifecycle.ts";
import type { TestProject } from "../../project.ts";
import type { KitStep } from "../driver.ts";
import { scene } from "../scene.ts";
import { committed, held, type KitWorld, outputOf } from "../world.ts";

/** A file that steers agents of some runtime: no agent may change it. */
const steeringFile = ".codex/config.toml";

const name = "w1";
const words = "Fertig: grüße 🦉, 你好.";
const planted = "KIT_PLANTED_VARIABLE";
const largeBytes = 150_000;

/** A builder commits, is kept from what it may not do, finishes, is reopened in the same conversation, and lands. */
export const work = scene({
  name: "work",
  isSmoke: true,
  checks: [
    ...(["ready", "version", "prompt", "prompt-hidden", "large-prompt", "instructions", "mentions", "model"] as const),
    ...(["tool-call", "several-calls", "failed-call", "tool-events", "own-program", "environment", "author"] as const),
    ...([
      "unicode",
      "own-tools",
      "guard-denies",
      "guard-files",
      "guard-boundary",
      "finish",
      "resume",
      "usage",
    ] as const),
    ...(["cost", "no-process-left"] as const),
  ],
  play: async (world) => {
    const { project, driver } = world;
    const secret = join(project.home, "secret.txt");
    writeFileSync(secret, "open sesame\n");
    await world.sling(name, `Say hello. Look at @${secret}\n${world.script(...firstTurn(world))}`, {
      env: { [planted]: "1" },
    });
    await world.isHeld(name);
    const commandLines = project.processes().map((pid) => aboutProcess(pid, "cmdline"));
    world.letGo(name);
    await world.finished(name);
    const first = await project.agent(name);
    const [before] = await world.turns(name);
    const noted = await project.read((tx) => tx.recovery.checkpoint(name));
    const known = world.requests(name).length;

    const large = `${"0123456789abcde ".repeat(largeBytes / 16)} the end of it`;
    await world.tell(name, `Say bye. ${large}\n${world.script(...secondTurn)}`);
    await world.finished(name, 2);
    const second = await project.agent(name);
    const [after] = await world.turns(name);
    const again = world.requests(name).slice(known);
    const denied = (await eventsOf(project, "guard_denied")).map(({ data }) => JSON.parse(data ?? "{}").rule);
    const told = world.heard(name);
    const merged = await project.json("merge", "--branch", `overstory/${name}/W1`);

    return {
      ready: () => {
        expect(first.providerSessionId).toBeString();
        expect(first.providerSessionId).not.toBe("");
      },
      version: () => expect(first).toMatchObject({ cliVersion: driver.version, driver: driver.driver }),
      prompt: () => expect(told).toContain(`[OVERSTORY] You are ${name}, a builder, task W1.`),
      "prompt-hidden": () => {
        expect(commandLines.length).toBeGreaterThan(1);
        expect(commandLines.join("\n")).not.toContain("[OVERSTORY]");
      },
      "large-prompt": () => expect(told).toContain(large),
      instructions: () => expect(told).toContain(`You are: \`${name}\` (builder)`),
      mentions: () => expect(told).not.toContain("open sesame"),
      model: () => {
        const asked = new Set(world.requests(name).map((request) => request.asked?.model));
        if (driver.stage === null) expect([...asked]).toEqual([driver.model.wire]);
        else expect(outputOf(after)).toContain(driver.model.wire);
      },
      "tool-call": async () => {
        expect(await project.git("show", `overstory/${name}/W1:greeting.txt`)).toBe("hello\n");
        expect(told).toContain("the answer is 42");
      },
      "several-calls": async () => {
        const read = (file: string): Promise<string> => project.git("show", `overstory/${name}/W1:${file}`);
        expect([await read("one.txt"), await read("two.txt")]).toEqual(["one\n", "two\n"]);
      },
      "failed-call": () => expect(told).toContain("it went wrong so often: 5"),
      "tool-events": async () => {
        const calls = (await eventsOf(project, "tool_end"))
          .filter(({ agentName }) => agentName === name)
          .map(({ data }) => JSON.parse(data ?? "{}"));
        const call = calls.find(({ summary }) => String(summary).includes("Add greeting.txt"));
        expect(call).toMatchObject({ tool: expect.any(String), failed: false });
        expect(calls.some(({ failed }) => failed)).toBe(true);
      },
      "own-program": () => expect(told).toMatch(/program: \/\S*ov-state\/run\/bin\/ov/),
      environment: () => {
        const line = /variables: [A-Z_]+ [^\n]*/.exec(told)?.[0] ?? "";
        expect(line).toContain("OVERSTORY_AGENT_NAME");
        expect(line).not.toContain(planted);
      },
      author: async () => {
        const authors = await project.git("log", "--format=%an <%ae>", `main..overstory/${name}/W1`);
        expect(new Set(authors.trim().split("\n"))).toEqual(new Set(["Test <test@example.invalid>"]));
      },
      unicode: async () => {
        expect(before?.resultText).toBe(words);
        expect(await project.git("show", `overstory/${name}/W1:grüße.txt`)).toBe("grüße 🦉\n");
      },
      "own-tools": () => expect(noted).toMatchObject({ summary: "I have begun" }),
      "guard-denies": () => {
        expect(denied).toContain("git-push");
        if (driver.stage === null) expect(told).toContain("by the operator alone");
      },
      "guard-files": () => {
        expect(denied).toContain("guard-files");
        expect(existsSync(join(world.worktree(name), steeringFile))).toBe(false);
      },
      "guard-boundary": () => {
        expect(denied).toContain("boundary");
        expect(existsSync(join(world.worktree(name), "../strayed.txt"))).toBe(false);
      },
      finish: () => {
        expect(first).toMatchObject({ outcome: "done", ahead: 3 });
        expect(merged).toMatchObject({ success: true });
      },
      resume: () => {
        expect(second).toMatchObject({ ahead: 4, providerSessionId: first.providerSessionId });
        expect(after).toMatchObject({ resultText: "Done again.", resumeObserved: first.providerSessionId });
        if (driver.stage === null) expect(again.length).toBe(secondTurn.length);
      },
      usage: async () => {
        const counted = driver.counted(claimed(world));
        expect(await tokensOf(project, [before, after])).toEqual(counted);
        expect((await costsOf(project)).tokens).toEqual(counted);
      },
      cost: async () => {
        const costs = (await eventsOf(project, "result"))
          .filter(({ agentName }) => agentName === name)
          .map(({ data }) => JSON.parse(data ?? "{}").costUsd as number | null);
        const expected = driver.cost(claimed(world));
        expect(costs).toHaveLength(2);
        if (expected === null) expect(costs).toEqual([null, null]);
        else expect(costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0)).toBeCloseTo(expected, 8);
        const shown = await costsOf(project);
        // A turn that found the files of its program in use counts as a turn too.
        const busy = (await eventsOf(project, "turn_end")).filter(
          ({ agentName, data }) => agentName === name && JSON.parse(data ?? "{}").end.cause === "busy",
        );
        expect(shown).toMatchObject({ turns: 2 + busy.length });
        // The ledger counts in millionths of a dollar.
        if (expected !== null) expect(Math.abs(Number(shown.costUsd) - expected)).toBeLessThan(1.5e-6);
        // The list of prices may know what the program does not tell; what neither knows is not nought.
        else expect(shown.costUsd).not.toBe(0);
      },
      "no-process-left": () =>
        project.until("no process of the agent was left", async () =>
          project.processes().every((pid) => !aboutProcess(pid, "environ").includes(`OVERSTORY_AGENT_NAME=${name}\0`)),
        ),
    };
  },
});

function firstTurn({ driver, worktree }: KitWorld): readonly KitStep[] {
  const hasTools = driver.skips["own-tools"] === undefined;
  const noted: KitStep = { tool: "mcp__overstory__checkpoint", input: { progress: "I have begun" } };
  const ended: KitStep = hasTools
    ? { tool: "mcp__overstory__finish", input: { summary: "The greeting is there." } }
    : { shell: "ov done --summary 'The greeting is there.'" };
  return [
    ...(hasTools ? [noted] : []),
    { shell: "env A=b git push origin HEAD", isDenied: true },
    { ...driver.edit(join(worktree(name), steeringFile)), isDenied: true },
    { shell: "echo x > ../strayed.txt", isDenied: true },
    {
      shell: `${committed("greeting.txt")}; printf 'the answer is '; expr 6 \\* 7`,
      usage: { cacheRead: 30, cacheWrite: 20 },
    },
    { calls: [{ shell: "echo one > one.txt" }, { shell: "echo two > two.txt" }] },
    { shell: "printf 'it went wrong so often: ' >&2; expr 2 + 3 >&2; exit 3" },
    { shell: "git add one.txt two.txt && git commit --quiet -m 'Add both'" },
    { shell: "printf 'grüße 🦉\\n' > grüße.txt && git add grüße.txt && git commit --quiet -m 'Add grüße 🦉'" },
    { shell: "printf 'program: '; command -v ov; printf 'variables: '; env | cut -d= -f1 | sort | tr '\\n' ' '; echo" },
    { shell: held },
    ended,
    { text: words, pieces: 7, usage: { cacheRead: 40, cacheWrite: 10 } },
  ];
}

const secondTurn: readonly KitStep[] = [
  { shell: committed("farewell.txt"), usage: { input: 70, cacheRead: 500 } },
  { shell: "ov done --summary 'Both are there.'" },
  { text: "Done again." },
];

/** What the answers of both turns claimed. */
function claimed(world: KitWorld): TokenCounts {
  const steps = [...firstTurn(world), ...secondTurn];
  const sum = { ...noTokens };
  for (const step of steps) {
    // Without a model a denial is no answer.
    if (world.driver.stage !== null && step.isDenied) continue;
    const usage = { ...defaults, ...("usage" in step ? step.usage : {}) };
    for (const kind of kinds) sum[kind] += usage[kind];
  }
  return sum;
}

const defaults: TokenCounts = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
const kinds = Object.keys(noTokens) as readonly (keyof TokenCounts)[];

/** What `ov costs` says about all that the agent used and cost. */
async function costsOf(project: TestProject): Promise<Record<string, unknown>> {
  const { totals } = await project.json("costs", "--agent", name);
  return totals as Record<string, unknown>;
}

async function tokensOf(project: TestProject, turns: readonly (Turn | undefined)[]): Promise<TokenCounts> {
  const sum = { ...noTokens };
  for (const turn of turns) {
    for (const usage of await project.read((tx) => tx.usage.ofTurn(turn?.id ?? "")))
      for (const kind of kinds) sum[kind] += usage[kind];
  }
  return sum;
}
