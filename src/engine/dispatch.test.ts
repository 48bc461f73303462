import { expect, test } from "bun:test";
import { coordinatedWorld } from "../../testkit/coordinated-world.ts";
import { activeRun, storedAgent, useCaseWorld } from "../../testkit/use-case.ts";
import type { Agent } from "../domain/agent/agent.ts";
import { noBudgets } from "../domain/budget/budget.ts";
import type { Tx } from "../ports/store.ts";
import { claimTurns } from "./dispatch.ts";

async function queueTurnOf(tx: Tx, name: string, notBefore: number, facts: Partial<Agent> = {}): Promise<void> {
  const agent = storedAgent(name, { worktreePath: `/w/${name}`, ...facts });
  await tx.agents.reserve(agent);
  const { id: agentId, runId } = agent;
  const turn = { id: `turn-${name}`, agentId, agentName: name, runId, attempt: 1, notBefore, now: 0 };
  await tx.turns.queue({ ...turn, trigger: "spawn" });
}

/** A run with far more ready turns than one look takes in, and behind them one of another run and a coordinator's. */
async function crowdedWorld() {
  const world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    for (const run of ["run-1", "run-2"]) await tx.runs.insert(activeRun(run, 0));
    for (let n = 0; n < 450; n++) await queueTurnOf(tx, `crowd-${n}`, 1);
    await queueTurnOf(tx, "other", 2, { runId: "run-2" });
    await queueTurnOf(tx, "chief", 3, { capability: "coordinator" });
  });
  const claim = async (maxTurns: number) => {
    const claimed = await claimTurns({
      store: world.store,
      clock: { now: () => 10, monotonic: () => 0 },
      ids: world.context().ids,
      logDir: (name) => `/logs/${name}`,
      settings: { maxTurns, maxTurnsPerRun: 4, budgets: noBudgets },
    });
    return claimed.map(({ turnId }) => turnId.replace("turn-", "")).map((name) => name.replace(/^crowd-.*/, "crowd"));
  };
  return { claim, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

test("a run that is full does not hide the ready turns of others, however many of its own wait", async () => {
  await using world = await crowdedWorld();
  expect(await world.claim(100)).toEqual(["crowd", "crowd", "crowd", "crowd", "other", "chief"]);
  expect(await world.claim(100)).toEqual([]);
});

test("a coordinator starts where no place is left for anybody else", async () => {
  await using world = await crowdedWorld();
  expect(await world.claim(2)).toEqual(["crowd", "crowd", "chief"]);
});

test("A1: mail that wakes starts its turn and is in it, however much other mail stands before it", async () => {
  await using world = await coordinatedWorld();
  for (let n = 0; n < 60; n++) await world.tell(`news ${n}`, false, { priority: "high" });
  await world.tell("which one?", true);
  const { chief } = await world.dispatch();
  expect(chief).toHaveLength(50);
  expect(chief).toContain("which one?");
});

test("A1: mail that wakes starts its turn behind more news than a turn takes that asks nothing any more", async () => {
  await using world = await coordinatedWorld();
  const spent = {
    type: "merged",
    payload: JSON.stringify({ branch: "overstory/b1/T1", readyTasks: ["gone"] }),
  } as const;
  for (let n = 0; n < 60; n++) await world.tell(`ready ${n}`, true, { ...spent, priority: "high" });
  await world.tell("which one?", true);
  expect((await world.dispatch()).chief).toContain("which one?");
});
