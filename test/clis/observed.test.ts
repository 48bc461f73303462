import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findCli, skipWithoutCli } from "../../testkit/agent-clis/installed.ts";
import type { KitDriver, KitStep } from "../../testkit/conformance/driver.ts";
import { drivers } from "../../testkit/conformance/drivers.ts";
import { committed, finish, type KitWorld, kitWorld } from "../../testkit/conformance/world.ts";
import type { Usage } from "../../testkit/fake-model/script.ts";
import { jsonOf } from "../../testkit/ov.ts";
import { zones } from "../observe/one-run.world.ts";

/** What the model answers in the only turn. No two sums of these figures are equal, so none can stand for another. */
const answers: readonly (KitStep & { readonly usage: Usage })[] = [
  { shell: committed("greeting.txt"), usage: { input: 1009, output: 503, cacheRead: 3001, cacheWrite: 211 } },
  { shell: "exit 3", usage: { input: 17, output: 29, cacheRead: 4013, cacheWrite: 0 } },
  { shell: "sleep 2", usage: { input: 23, output: 31, cacheRead: 0, cacheWrite: 19 } },
  { ...finish, usage: { input: 41, output: 43, cacheRead: 47, cacheWrite: 53 } },
  { text: "All done.", usage: { input: 59, output: 61, cacheRead: 67, cacheWrite: 71 } },
];

const kinds = ["input", "output", "cacheRead", "cacheWrite"] as const;
const sumOf = (all: readonly Usage[]): Usage => {
  const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  for (const one of all) for (const kind of kinds) sum[kind] += one[kind];
  return sum;
};
const served = sumOf(answers.map(({ usage }) => usage));

/** Dollars for one token, for programs that tell no cost. They are no vendor's. */
const perToken: Usage = { input: 0.000002, output: 0.000011, cacheRead: 0.0000003, cacheWrite: 0.0000025 };

interface Expected {
  readonly tokens: Usage;
  readonly costUsd: number;
  readonly costSource: "reported" | "prices";
}

function expectedOf(driver: KitDriver): Expected {
  const tokens = driver.counted(served);
  const told = driver.cost(served);
  const listed = kinds.reduce((sum, kind) => sum + tokens[kind] * perToken[kind], 0);
  return { tokens, costUsd: told ?? listed, costSource: told === null ? "prices" : "reported" };
}

const name = "b1";
type Shown = Record<string, unknown>;
const list = (value: unknown): readonly Shown[] => value as readonly Shown[];

/** The ledger counts in millionths of a dollar. */
const expectDollars = (shown: unknown, expected: number): void =>
  expect(Math.abs(Number(shown) - expected)).toBeLessThanOrEqual(1e-6);

describe.each(drivers.map((driver) => [driver.id, driver] as const))("one run with %s", (_, driver) => {
  const program = driver.cli === null ? null : findCli(driver.cli);
  if (driver.cli !== null && program === undefined) {
    skipWithoutCli(driver.cli, "costs, metrics, trace and replay agree with what the model served");
    return;
  }
  const expected = expectedOf(driver);
  let world: KitWorld;
  beforeAll(async () => {
    world = await kitWorld(driver, program === null || program === undefined ? null : dirname(program));
    const { project } = world;
    if (driver.cost(served) === null) writePrices(project.root, driver.model.wire);
    await world.sling(name, `Say hello. ${world.script(...answers)}`);
    await world.finished(name);
    await project.settled();
    await project.json("engine", "stop");
  }, 240_000);
  afterAll(() => world?.[Symbol.asyncDispose]());

  const inZone =
    (TZ: string) =>
    async (...words: string[]): Promise<Shown> =>
      jsonOf(await world.project.ovWith({ env: { TZ } }, ...words, "--json"));

  test.each(zones)("costs and metrics agree to the token and the cent with what was served, in %s", async (zone) => {
    const json = inZone(zone);
    const agent = await world.project.agent(name);
    const [turn] = await world.turns(name);
    expect(turn).toMatchObject({ clean: true });
    const { sessions, totals } = (await json("costs")) as { sessions: Shown[]; totals: Shown };
    expect(sessions).toHaveLength(1);
    const [session] = sessions;
    expect(session).toMatchObject({
      agentName: name,
      capability: "builder",
      runtime: agent.runtime,
      taskId: "B1",
      runId: agent.runId,
      outcome: "done",
      turns: 1,
      // A program that does not leave by itself is ended, and has no code when it took too long to go.
      exitCode: turn?.exitCode ?? null,
      gates: "success",
      verdict: "verified",
      tokens: expected.tokens,
      costSource: expected.costSource,
      unpricedTurns: 0,
    });
    expectDollars(session?.costUsd, expected.costUsd);
    const turnMs = (turn?.endedAt ?? 0) - (turn?.startedAt ?? 0);
    expect(turnMs).toBeGreaterThan(2_000);
    expect(session?.turnMs).toBe(turnMs);
    expect(session?.durationMs).toBe(agent.lastActivityAt - agent.startedAt);
    expect(totals).toMatchObject({ turns: 1, turnMs, tokens: expected.tokens, costUsd: session?.costUsd });

    const day = new Date(turn?.startedAt ?? 0).toLocaleDateString("sv-SE", { timeZone: zone });
    const model = String(session?.model);
    expect(model).toContain(driver.model.wire);
    for (const [by, key] of [
      ["agent", name],
      ["task", "B1"],
      ["run", agent.runId],
      ["runtime", agent.runtime],
      ["model", model],
      ["capability", "builder"],
      ["day", day],
    ] as const) {
      const grouped = await json("costs", "--by", by);
      const sums = { key, turns: 1, turnMs, tokens: expected.tokens, costUsd: session?.costUsd };
      expect([by, grouped.groups]).toEqual([by, [expect.objectContaining(sums)]]);
    }

    const metrics = await json("metrics");
    expect(metrics).toMatchObject({
      total: 1,
      completed: 1,
      gates: { success: 1 },
      averageDurationMs: session?.durationMs,
      totals: { costUsd: session?.costUsd },
    });
    expect(metrics.sessions).toEqual(sessions);
  });

  test.each(zones)("trace and replay tell what was done, once and in order, in %s", async (zone) => {
    const json = inZone(zone);
    const { project } = world;
    const agent = await project.agent(name);
    const stored = await project.read((tx) => tx.events.after(0, 10_000));
    const seqs = (shown: unknown): unknown[] => list(shown).map(({ seq }) => seq);

    const { turns } = await json("trace", name, "--turns");
    expect(list(turns)).toHaveLength(1);
    const [turn] = list(turns);
    expect(turn).toMatchObject({
      runId: agent.runId,
      outcome: { end: "clean", agentState: "completed", agentOutcome: "done" },
      tokens: expected.tokens,
      costSource: expected.costSource,
    });
    expectDollars(turn?.costUsd, expected.costUsd);
    const calls = list(turn?.steps).filter(({ kind }) => kind === "tool");
    const commands = answers.flatMap((answer) => ("shell" in answer ? [answer.shell] : []));
    expect(calls).toHaveLength(commands.length);
    for (const [at, command] of commands.entries()) expect(String(calls[at]?.summary)).toContain(command.slice(0, 10));
    if (driver.skips["tool-events"] === undefined)
      expect(calls.map(({ failed }) => failed)).toEqual([false, true, false, false]);
    expect(Number(calls[2]?.durationMs)).toBeGreaterThan(1_000);

    const traced = await json("trace", name, "--limit", "1000");
    expect(seqs(traced.events)).toEqual(stored.filter(({ agentName }) => agentName === name).map(({ seq }) => seq));
    const told = list(traced.events).filter(({ type }) => type === "usage");
    expect(sumOf(told.map(({ details }) => details as Usage))).toEqual(expected.tokens);

    const replayed = await json("replay", "--limit", "1000");
    expect(seqs(replayed.events)).toEqual(stored.filter(({ runId }) => runId === agent.runId).map(({ seq }) => seq));
    for (const event of list(replayed.events)) expect(event.runId).toBe(agent.runId);
  });
});

function writePrices(root: string, model: string): void {
  mkdirSync(join(root, ".overstory"), { recursive: true });
  const entry = {
    input_cost_per_token: perToken.input,
    output_cost_per_token: perToken.output,
    cache_read_input_token_cost: perToken.cacheRead,
    cache_creation_input_token_cost: perToken.cacheWrite,
  };
  writeFileSync(join(root, ".overstory/prices.json"), JSON.stringify({ [model]: entry }));
}
