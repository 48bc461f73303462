import { expect, test } from "bun:test";
import { type MergeWorld, mergeWorld } from "../../../../testkit/merge-queue-world.ts";
import { activeRun } from "../../../../testkit/use-case.ts";
import { worldWith } from "../../../../testkit/world.ts";
import { catalog, type OperationName } from "../../../usecases/catalog.ts";
import { post } from "../../../usecases/mail/post.ts";
import type { Call, Effect } from "../../../usecases/operation.ts";
import { overview } from "../../../usecases/status/overview.ts";
import type { UseCase } from "../../../usecases/usecase.ts";
import type { App } from "../app.ts";
import { runCli } from "../run.ts";
import { inboxCommand } from "../tree/team-commands.ts";
import { statusCommand } from "../tree/watch-commands.ts";

const tree = { name: "ov", summary: "", commands: [statusCommand, inboxCommand] };

/** The real commands over the real use cases; no engine runs. */
async function ov(world: MergeWorld, ...argv: string[]): Promise<string> {
  let out = "";
  const call = async (name: OperationName, request: unknown): Promise<unknown> => {
    const operation = (await catalog[name]()) as UseCase<unknown, unknown> | Effect<unknown, unknown>;
    return operation.kind === "effect"
      ? operation.run(worldWith({ call: call as Call }), request)
      : world.call(operation, request);
  };
  const app = {
    version: "0",
    notices: async () => [],
    call,
    engine: { status: () => undefined },
  } as unknown as App;
  const write = (text: string) => {
    out += text;
    return "written" as const;
  };
  const sink = { write, isTTY: () => false, isPipe: () => false, columns: () => undefined };
  const io = { stdout: sink, stderr: sink, stdin: async () => undefined };
  expect(await runCli({ argv, env: {}, tree, version: "0", makeApp: () => app, ...io })).toBe(0);
  return out;
}

test("an agent that waits for a person is shown with the command that lets it go on", async () => {
  await using world = await mergeWorld();
  await world.asEngine(async (tx) => {
    const wait = { agentName: "lead-1", since: 1, deadline: null };
    await tx.waits.add({ ...wait, kind: "operator", ref: "operator" });
    await tx.waits.add({ ...wait, kind: "budget", ref: "run:run-2:usd" });
  });
  const out = await ov(world, "status");
  expect(out).toContain("you: it is paused (ov resume lead-1)");
  expect(out).toContain("money: a budget is used up (ov budget raise run run-2 usd <amount>)");
  // It lives, so it can be neither recovered nor released.
  const { troubled } = JSON.parse(await ov(world, "inbox", "--json"));
  expect(troubled).toMatchObject([{ agentName: "lead-1", commands: ["see what it did: ov logs lead-1"] }]);
});

test("a stopped agent does not try again, and its age is that of its end", async () => {
  await using world = await mergeWorld();
  const advice = "it tries again by itself; to give up on it: ov stop b9";
  const now = Date.now();
  const ended = { state: "completed", outcome: "stopped", lastActivityAt: now - 3_600_000, endedAt: now } as const;
  await world.seat("b9", { ...ended, parentName: "operator", runId: "run-2" });
  const turn = await world.beginTurn("b9");
  const nothing = { clean: false, resultText: null, exitCode: 1, exitSignal: null, terminalMessageSeq: null } as const;
  const failed = { status: "failed", failure: "overloaded", error: "529", advice, endedAt: now } as const;
  await world.asEngine((tx) => tx.turns.end(turn.id, 1, { ...nothing, ...failed }));
  const shown = await ov(world, "status", "--all");
  expect(shown).toContain("529");
  expect(shown).not.toContain("by itself");
  expect(shown).toMatch(/b9 .* \d+s ago/);
});

test("the inbox accounts for every message that the status counts", async () => {
  await using world = await mergeWorld({ mode: "approve" });
  await world.announce();
  const mail = { from: "lead-1", fromAgentId: null, runId: "run-2", verified: true, address: "operator" } as const;
  const recipients = [{ name: "operator", wake: false }];
  const text = { subject: "news", body: "all well", type: "status", priority: "normal", payload: null } as const;
  await world.asEngine((tx, context) => post(tx, context, { ...mail, ...text, recipients, byEngine: false }));
  expect(await ov(world, "status")).toContain("Mail: 2 unread");
  expect(await ov(world, "inbox", "--peek")).toContain("1 new message, and 1 about what is shown above:");
});

test("another active run is marked when something in it waits for a person, an agent without budget included", async () => {
  await using world = await mergeWorld();
  await world.asEngine((tx) => tx.runs.insert(activeRun("run-9", 9)));
  await world.seat("b9", { runId: "run-9", state: "between_turns" });
  const [first, second] = ["run-2", "run-9"] as const;
  const other = (await ov(world, "status")).includes(`Run ${second}`) ? first : second;
  const name = other === second ? "b9" : "lead-1";
  const line = async (): Promise<string> =>
    (await ov(world, "status")).split("\n").find((one) => one.includes("Also active:")) ?? "";
  expect(await line()).toStartWith(`Also active: ${other}`);
  const wait = { kind: "budget", ref: `run:${other}:usd`, since: 1, deadline: null } as const;
  await world.asEngine((tx) => tx.waits.add({ agentName: name, ...wait }));
  expect(await line()).toStartWith(`! Also active: ${other}`);
  expect(await line()).toContain("1 thing waits for you (ov inbox)");
});

test("another active run whose coordinator was stopped is marked, and the inbox says how it goes on", async () => {
  await using world = await mergeWorld();
  await world.asEngine((tx) => tx.runs.insert({ ...activeRun("run-9", 9), coordinatorName: "c9" }));
  const ended = { state: "completed", outcome: "stopped", endedAt: Date.now() } as const;
  await world.seat("c9", { runId: "run-9", capability: "coordinator", parentName: "operator", taskId: null, ...ended });
  await world.asEngine((tx) => tx.runs.insert(activeRun("run-10", 10)));
  expect(await ov(world, "status")).toMatch(/^! Also active: run-9 \(\d agents?, c9, which led it, has ended\)/m);
  const inbox = await ov(world, "inbox");
  expect(inbox).toContain("! Run run-9 is active, but c9, which led it, has ended");
  expect(inbox).toContain("let it go on: ov recover c9");
});

test("the mail of nobody is not counted", async () => {
  await using world = await mergeWorld();
  const asked = { all: false, mailbox: "nope" };
  expect(await world.call(overview, asked)).toMatchObject({
    refusal: { kind: "not-found", noun: "agent", id: "nope" },
  });
  expect(await ov(world, "status", "--agent", "lead-1")).toContain("unread (to lead-1)");
  expect(await ov(world, "status", "--agent", "operator")).toContain("unread (to operator)");
});

test("agents in trouble stand above the engine and the fleet, with the command that helps", async () => {
  await using world = await mergeWorld();
  for (const name of ["b2", "b3", "b4", "b5", "b6", "b7"]) {
    await world.seat(name, { runId: "run-2", state: "between_turns", parentName: "operator" });
  }
  await world.seat("b8", { runId: "run-2", state: "stalled", parentName: "operator" });
  const ended = { state: "zombie", outcome: "crashed", endedAt: Date.now() } as const;
  await world.seat("b9", { runId: "run-2", parentName: "operator", ...ended });
  const lines = (await ov(world, "status")).split("\n");
  const engine = lines.findIndex((line) => line.startsWith("Engine:"));
  const above = lines.slice(0, engine);
  expect(above.filter((line) => /^! b\d \(/.test(line))).toEqual([
    expect.stringMatching(/^! b8 \(builder\): silent — ov logs b8$/),
    expect.stringMatching(/^! b9 \(builder\): crashed — ov recover b9$/),
  ]);
  for (let n = 10; n < 25; n++) await world.seat(`b${n}`, { runId: "run-2", parentName: "operator", ...ended });
  const many = (await ov(world, "status")).split("\n");
  expect(many.filter((line) => /^! b\d+ \(/.test(line))).toHaveLength(10);
  expect(many.join("\n")).toContain("7 more agents in trouble — ov inbox");
});

test("the line of an agent that ended names what comes before it is recovered", async () => {
  await using world = await mergeWorld();
  const ended = { state: "zombie", outcome: "crashed", endedAt: Date.now() } as const;
  await world.seat("b9", { runId: "run-2", parentName: "operator", ...ended });
  const turn = await world.beginTurn("b9");
  const nothing = { clean: false, resultText: null, exitCode: 1, exitSignal: null, terminalMessageSeq: null } as const;
  const failed = { status: "failed", failure: "login", error: "401", endedAt: 5 } as const;
  const advice = "log in, then: ov recover b9";
  await world.asEngine((tx) => tx.turns.end(turn.id, 1, { ...nothing, ...failed, advice }));
  expect((await ov(world, "status")).split("\n")).toContain(`! b9 (builder): 401 — ${advice}`);
});
