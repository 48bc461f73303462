import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { letGo, slingNew, untilAgent, untilFile, untilTurns } from "../testkit/lifecycle.ts";
import { jsonOf } from "../testkit/ov.ts";
import { makeProject, type TestProject } from "../testkit/project.ts";
import { statePath } from "../testkit/state.ts";

/** Dollars by the prices of the scripted agent. */
const dollars = ({ input, output, cacheRead, cacheWrite }: Tokens): number =>
  Math.round((input * 40 + output * 200 + cacheRead * 2 + cacheWrite * 50) / 10) / 1_000_000;

type Tokens = Readonly<Record<"input" | "output" | "cacheRead" | "cacheWrite", number>>;

const scenario = `
- when: { agent: b1 }
  do:
    - edit: { file: b1.txt, write: "work\\n" }
      usage: { input: 1000, output: 500, cacheRead: 300, cacheWrite: 200 }
    - commit: work
      usage: { input: 1, output: 1, cacheRead: 5, cacheWrite: 1 }
    - ov: [done, --summary, finished]
      usage: { input: 10, output: 20, cacheRead: 30, cacheWrite: 40 }
- when: { agent: b2 }
  do:
    - ov: [done, --no-code, --summary, nothing]
      usage: { input: 7, output: 7, cacheRead: 5, cacheWrite: 7 }
`;

const b1: Tokens = { input: 1011, output: 521, cacheRead: 335, cacheWrite: 241 };
const b2: Tokens = { input: 7, output: 7, cacheRead: 5, cacheWrite: 7 };

function add(a: Tokens, b: Tokens): Tokens {
  const sum = (kind: keyof Tokens): number => a[kind] + b[kind];
  return { input: sum("input"), output: sum("output"), cacheRead: sum("cacheRead"), cacheWrite: sum("cacheWrite") };
}

type Documents = Readonly<Record<string, unknown>>;
type Session = Documents & { readonly agentName: string };

async function played(): Promise<TestProject> {
  const project = await makeProject({
    scenario,
    gates: ["test -f b1.txt || test ! -f b2.txt"],
    config: "budgets:\n  agent:\n    usd: 2\n",
  });
  for (const task of ["B1", "B2"]) {
    await slingNew(project, task);
    await untilAgent(project, task.toLowerCase(), "completed/done");
  }
  await project.settled();
  return project;
}

test("a run fills tokens, cost, durations, gate outcome and run, and costs and metrics agree with its script", async () => {
  await using project = await played();
  const runId = (await project.agent("b1")).runId;
  const { sessions, totals } = (await project.json("costs")) as { sessions: Session[]; totals: Documents };
  expect(sessions.map(({ agentName }) => agentName)).toEqual(["b2", "b1"]);
  const session = sessions[1];
  expect(session).toMatchObject({
    agentName: "b1",
    capability: "builder",
    runtime: "scripted",
    taskId: "B1",
    runId,
    tokens: b1,
    costUsd: dollars(b1),
    costSource: "reported",
    unpricedTurns: 0,
    turns: 1,
    exitCode: 0,
    gates: "success",
    verdict: "verified",
    outcome: "done",
    limitUsd: 2,
    usedPercent: Math.floor((dollars(b1) / 2) * 100),
    inputTokens: b1.input,
    outputTokens: b1.output,
    cacheReadTokens: b1.cacheRead,
    cacheCreationTokens: b1.cacheWrite,
    estimatedCostUsd: dollars(b1),
    modelUsed: session?.model,
    parentAgent: "operator",
    mergeResult: null,
  });
  expect(Number(session?.durationMs)).toBeGreaterThan(0);
  expect(Number(session?.turnMs)).toBeGreaterThan(0);
  expect(totals).toMatchObject({ turns: 2, tokens: add(b1, b2), costUsd: dollars(add(b1, b2)) });

  const metrics = await project.json("metrics");
  expect(metrics).toMatchObject({
    total: 2,
    completed: 2,
    gates: { success: 1 },
    mergeTiers: {},
    byCapability: [{ capability: "builder", total: 2, completed: 2 }],
    totals: { costUsd: dollars(add(b1, b2)) },
  });
  expect(metrics.sessions).toEqual(sessions);
  const durations = sessions.map(({ durationMs }) => Number(durationMs));
  expect(metrics.averageDurationMs).toBe(Math.round(durations.reduce((sum, one) => sum + one, 0) / 2));
  expect((await project.json("metrics", "--last", "1")).total).toBe(1);

  for (const [by, keys] of [
    ["agent", ["b1", "b2"]],
    ["task", ["B1", "B2"]],
    ["run", [runId]],
    ["runtime", ["scripted"]],
    ["model", [String(session?.model)]],
    ["capability", ["builder"]],
  ] as const) {
    const grouped = (await project.json("costs", "--by", by)) as { groups: Documents[]; totals: Documents };
    expect([by, grouped.groups.map(({ key }) => key)]).toEqual([by, [...keys]]);
    expect([by, grouped.totals.costUsd]).toEqual([by, dollars(add(b1, b2))]);
    const narrowed = (await project.json("costs", "--by", by, "--runtime", "scripted")) as { groups: Documents[] };
    expect([by, narrowed.groups]).toEqual([by, grouped.groups]);
  }
  expect(await project.json("costs", "--by", "agent", "--last", "1")).toMatchObject({
    groups: [{ key: "b2" }],
    totals: { turns: 1 },
    all: { turns: 2, costUsd: dollars(add(b1, b2)) },
  });
  for (const cutOff of [[], ["--by", "agent"]]) {
    const { out } = await project.ov("costs", ...cutOff, "--last", "1");
    expect(out).toMatch(/\nTotal +1 .*\nAll +2 +1018 +528 /);
    expect(out).toContain("1 turn in All only: they are older than these rows; more rows: --last <n>");
  }
  expect(await project.json("costs", "--by-capability")).toMatchObject({
    grouped: { builder: { sessions: 2, totals: { inputTokens: b1.input + b2.input, costUsd: dollars(add(b1, b2)) } } },
  });
  for (const narrowed of [
    ["--bead", "B1"],
    ["--task", "B1"],
    ["--agent", "b1"],
    ["--agent", "b1", "--run", runId, "--capability", "builder"],
  ]) {
    expect((await project.json("costs", ...narrowed)).sessions).toEqual([session]);
  }
  expect(await project.json("costs", "--live")).toMatchObject({ agents: [], totals: { burnRatePerMin: null } });
  const csv = (await project.ov("costs", "--by", "agent", "--csv")).out.trim().split("\n");
  expect(csv).toHaveLength(3);
  expect(csv[0]).toBe("agent,turns,input,output,cache_read,cache_write,cost,time,limit,used");
  expect(csv[1]).toStartWith(`b1,1,${b1.input},${b1.output},${b1.cacheRead},${b1.cacheWrite},${dollars(b1)},`);
  const whole = (await project.ov("costs")).out;
  expect(whole).toMatch(/Total +2 +1018 +528/);
  expect(whole).not.toContain("All");
  expect((await project.ov("metrics")).out).toContain("2 of 2");
}, 180_000);

test("a branch that landed is counted under the tier that merged it", async () => {
  await using project = await played();
  await project.json("merge", "approve", "--all");
  await project.until("it had landed", async () => {
    const [entry] = await project.read((tx) => tx.merges.list({}));
    return entry?.status === "merged";
  });
  const { mergeTiers, sessions } = (await project.json("metrics")) as { mergeTiers: Documents; sessions: Session[] };
  expect(mergeTiers).toEqual({ "clean-merge": 1 });
  expect(sessions.map(({ agentName, mergeTier, mergeResult }) => [agentName, mergeTier, mergeResult])).toEqual([
    ["b2", null, null],
    ["b1", "clean-merge", "clean-merge"],
  ]);
  expect((await project.ov("metrics")).out).toContain("clean-merge");
}, 180_000);

test("the costs of a live agent are those of its turns and of what the running one has told", async () => {
  const first: Tokens = { input: 100, output: 50, cacheRead: 10, cacheWrite: 5 };
  const told: Tokens = { input: 3000, output: 1, cacheRead: 2000, cacheWrite: 1000 };
  await using project = await makeProject({
    scenario: `
- when: { agent: b1, turn: 1 }
  do:
    - ov: [mail, send, --to, operator, --type, question, --subject, "Which?", --body, "Which one?"]
      usage: { input: 100, output: 49, cacheRead: 10, cacheWrite: 5 }
    - say: I wait
      usage: { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 }
- when: { agent: b1, turn: 2 }
  do:
    - edit: { file: b1.txt, write: "work\\n" }
      usage: { input: 3000, output: 900, cacheRead: 2000, cacheWrite: 1000 }
    - touch: "\${env.HOME}/wrote"
    - waitFor: { file: "\${env.HOME}/go" }
`,
  });
  // The program tells the cost of a turn at its end; until then the list of prices counts.
  const price = {
    input_cost_per_token: 4e-6,
    output_cost_per_token: 2e-5,
    cache_read_input_token_cost: 2e-7,
    cache_creation_input_token_cost: 5e-6,
  };
  writeFileSync(join(project.root, ".overstory", "prices.json"), JSON.stringify({ "scripted-model": price }));
  await slingNew(project, "B1");
  await untilTurns(project, "b1", 1);
  const [question] = await project.read((tx) => tx.messages.list({ to: "operator", type: "question" }));
  await project.json("mail", "reply", String(question?.id), "--body", "that one");
  await untilFile(project, "wrote");
  const live = async () => (await project.json("costs", "--live")) as { agents: Documents[]; totals: Documents };
  await project.until("the running turn had told its use", async () => {
    const [agent] = (await live()).agents;
    return (agent?.tokens as Tokens | null)?.input === first.input + told.input;
  });
  const { agents, totals } = await live();
  const cost = dollars(add(first, told));
  const elapsedMs = Number(agents[0]?.elapsedMs);
  expect(agents).toMatchObject([
    {
      agentName: "b1",
      taskId: "B1",
      runtime: "scripted",
      turns: 2,
      tokens: add(first, told),
      costUsd: cost,
      unpricedTurns: 0,
    },
  ]);
  const { startedAt } = await project.agent("b1");
  expect(agents[0]?.startedAt).toBe(new Date(startedAt).toISOString());
  const perMinute = (amount: number): number => amount / (elapsedMs / 60_000);
  expect(totals).toMatchObject({ turns: 2, tokens: add(first, told), costUsd: cost, unpricedTurns: 0 });
  expect(Number(totals.tokensPerMin)).toBeCloseTo(perMinute(first.input + first.output + told.input + told.output), 6);
  expect(Number(totals.burnRatePerMin)).toBeCloseTo(perMinute(cost), 9);
  await letGo(project);
  await untilTurns(project, "b1", 2);
}, 180_000);

test("costs of an agent, a run or a task that never was are refused, and not shown as nothing", async () => {
  await using project = await makeProject({});
  for (const asked of [[], ["--by", "day"], ["--live"]]) {
    expect(await project.ov("costs", ...asked, "--agent", "bert")).toMatchObject({ code: 7 });
    expect(await project.ov("costs", ...asked, "--run", "run-9")).toMatchObject({ code: 7 });
  }
  expect((await project.ov("costs")).out).toContain("No turn has settled yet");
  for (const asked of [[], ["--by", "day"]]) {
    expect(await project.ov("costs", ...asked, "--task", "T9")).toMatchObject({ code: 7 });
  }
  expect((await project.ov("costs", "--capability", "scout")).out).toContain("No turn that fits these flags");
  const both = await project.ov("costs", "--live", "--by", "day");
  expect(both).toMatchObject({ code: 2, err: expect.stringContaining("--by and --live exclude each other") });
}, 60_000);

const nothingTold = `
- do: [{ noInit: true }, { exit: 3 }]
`;

test("what nobody knows is n/a and never nought", async () => {
  await using project = await makeProject({ scenario: nothingTold });
  await slingNew(project, "B1");
  await project.until("its first turn was booked", async () => {
    const { sessions } = (await project.json("costs")) as { sessions: unknown[] };
    return sessions.length > 0;
  });
  const { sessions } = (await project.json("costs")) as { sessions: Session[] };
  expect(sessions[0]).toMatchObject({ tokens: null, costUsd: null, inputTokens: null, estimatedCostUsd: null });
  expect((await project.ov("costs")).out).toMatch(/n\/a +n\/a +n\/a +n\/a +n\/a/);
  await project.json("config", "set", "budgets.agent.usd", "2");
  expect((await project.json("costs")).sessions).toMatchObject([{ limitUsd: 2, usedPercent: null }]);
  expect((await project.ov("costs")).out).toMatch(/n\/a +\$2\.00 +n\/a/);
}, 120_000);

/** A turn books on the day on which it began, by the clock on the wall of the reader. */
test("days are the days of the reader's time zone", async () => {
  await using project = await played();
  const at = (await project.read((tx) => tx.spending.sums("session", {}, 1)))[0]?.firstAt ?? 0;
  for (const zone of ["America/Los_Angeles", "Asia/Kolkata", "UTC"]) {
    const env = { TZ: zone };
    const day = jsonOf(await project.ovWith({ env }, "costs", "--by", "day", "--json")) as Documents & {
      groups: Documents[];
    };
    const local = new Date(at).toLocaleDateString("sv-SE", { timeZone: zone });
    expect(day).toMatchObject({ zone, groups: [{ key: local, turns: 2, costUsd: dollars(add(b1, b2)) }] });
  }
}, 180_000);

test("costs, metrics and run show leave the database as it is, byte for byte, while no engine runs", async () => {
  await using project = await played();
  await project.json("engine", "stop");
  // What was written last may still be in the log beside the database: the first reader may bring it in.
  await project.json("costs");
  const digest = (): string =>
    createHash("sha256")
      .update(readFileSync(statePath(project.root, "overstory.db")))
      .digest("hex");
  const before = digest();
  for (const command of [["costs"], ["costs", "--by", "day"], ["costs", "--live"], ["metrics"], ["run", "show"]]) {
    expect((await project.ov(...command)).code).toBe(0);
    expect([command, digest()]).toEqual([command, before]);
  }
}, 180_000);

const answer = (id: string, output: number): string =>
  JSON.stringify({
    type: "assistant",
    sessionId: "s-1",
    timestamp: new Date().toISOString(),
    message: { id, model: "claude-sonnet-4-5", usage: { input_tokens: 1_000_000, output_tokens: output } },
  });

test("a session of a person counts through its hooks: as often as they tell of it, once", async () => {
  await using project = await makeProject({});
  const dir = join(project.home, ".claude", "projects", project.root.replaceAll(/[^A-Za-z0-9]/g, "-"));
  mkdirSync(dir, { recursive: true });
  const transcript = join(dir, "s-1.jsonl");
  const tell = async (event: string): Promise<void> => {
    const stdin = JSON.stringify({ hook_event_name: "Stop", session_id: "s-1", transcript_path: transcript });
    expect((await project.ovWith({ stdin }, "hook", event)).code).toBe(0);
  };
  writeFileSync(transcript, `${answer("m1", 0)}\n`);
  await tell("stop");
  writeFileSync(transcript, `${answer("m1", 0)}\n${answer("m2", 1_000_000)}\n`);
  await tell("stop");
  await tell("session-end");
  const { sessions } = (await project.json("costs")) as { sessions: Session[] };
  expect(sessions).toMatchObject([
    {
      sessionId: "session:s-1",
      agentName: "operator",
      capability: "operator",
      runtime: "claude",
      model: "claude-sonnet-4-5",
      tokens: { input: 2_000_000, output: 1_000_000, cacheRead: 0, cacheWrite: 0 },
      costUsd: 21,
      costSource: "prices",
      turns: 1,
    },
  ]);
  expect(await project.json("costs", "--self")).toMatchObject({
    source: "self",
    transcriptPath: transcript,
    model: "claude-sonnet-4-5",
    inputTokens: 2_000_000,
    estimatedCostUsd: 21,
  });
  // As settings of an earlier version call it.
  const hook = JSON.stringify({ session_id: "s-2", transcript_path: transcript });
  await project.ovWith({ stdin: hook }, "log", "session-end", "--agent", "scout-1", "--stdin");
  await project.ovWith({}, "log", "session-end", "--agent", "scout-2", "--transcript", transcript);
  const named = (await project.json("costs")) as { sessions: Session[] };
  expect(named.sessions.map(({ agentName }) => agentName)).toEqual(["scout-2"]);
}, 120_000);
