import { expect, test } from "bun:test";
import { budgetWorld, limited } from "../../../testkit/budget-world.ts";
import { activeRun } from "../../../testkit/use-case.ts";
import { noBudgets } from "../../domain/budget/budget.ts";
import { recheckBudgets, recordUsage, releaseReservation, settleTurnBudget } from "./turn-budget.ts";

test("what turns take is kept for agent, task, run and day, limits or not", async () => {
  await using world = await budgetWorld();
  await world.agent("ann");
  await world.turn("ann", "t1", { costUsd: 0.25, tokens: 100, minutes: 1.5 });
  await world.turn("ann", "t2", { costUsd: 0.5, tokens: 50, minutes: 1 });
  const ledgers = await world.store.read((tx) => tx.budgets.list());
  const subjects = [...new Set(ledgers.map(({ scope, subject }) => `${scope} ${subject}`))];
  expect(subjects).toEqual(["agent ann", "day 2026-01-01", "run run-1", "task task-ann"]);
  for (const scope of ["agent", "day", "run", "task"]) {
    const spent = ledgers.filter((ledger) => ledger.scope === scope).map(({ unit, spent }) => [unit, spent]);
    expect(Object.fromEntries(spent)).toEqual({ usd: 750_000, tokens: 150, turns: 2, minutes: 150_000 });
  }
  expect(ledgers.every(({ reserved }) => reserved === 0)).toBe(true);
});

test("an agent over its limit is parked with one event and one mail to the operator, however often it is tried", async () => {
  await using world = await budgetWorld(limited("agent", { turns: 1 }));
  await world.agent("ann");
  await world.turn("ann", "t1");
  for (const _ of [1, 2, 3]) {
    expect(await world.reserve("ann", "t2")).toMatchObject({
      ok: false,
      exceeded: { scope: "agent", subject: "ann", unit: "turns", limit: 1, spent: 1, reserved: 0 },
    });
  }
  expect(await world.waits("ann")).toEqual(["budget agent:ann:turns"]);
  expect(await world.ready()).toEqual([]);
  expect(await world.events("budget_exceeded")).toHaveLength(1);
  expect(await world.inbox("operator")).toEqual([
    "[ENGINE] budget nearly used up: agent ann, turns",
    "[ENGINE] budget used up: agent ann, turns",
  ]);
});

test("one exhausted run is one mail, not one per agent", async () => {
  await using world = await budgetWorld(limited("run", { usd: 1 }));
  for (const name of ["ann", "bob", "cat"]) await world.agent(name);
  await world.turn("ann", "t1", { costUsd: 1.2 });
  for (const name of ["ann", "bob", "cat"]) expect((await world.reserve(name, `t-${name}`)).ok).toBe(false);
  const exceeded = (await world.inbox("operator")).filter((subject) => subject.includes("budget used up"));
  expect(exceeded).toEqual(["[ENGINE] budget used up: run run-1, dollars"]);
  const [mail] = await world.store.read((tx) => tx.deliveries.inState("operator", ["queued"]));
  expect(mail?.message).toMatchObject({ type: "escalation", priority: "high", fromAgent: "system" });
  expect(mail?.message.body).toContain("run run-1 has spent $1.20 of $1.00 (120 %)");
  expect(mail?.message.body).toContain("ov budget raise run run-1 usd <amount>");
});

test("four fifths of a budget warn operator and parent once, without waking anybody", async () => {
  await using world = await budgetWorld(limited("agent", { tokens: 1000 }));
  await world.agent("lea", { capability: "lead" });
  await world.agent("ann", { parentName: "lea" });
  await world.turn("ann", "t1", { tokens: 700 });
  expect(await world.inbox("operator")).toEqual([]);
  await world.turn("ann", "t2", { tokens: 150 });
  await world.turn("ann", "t3", { tokens: 50 });
  const warning = ["[ENGINE] budget nearly used up: agent ann, tokens"];
  expect([await world.inbox("operator"), await world.inbox("lea")]).toEqual([warning, warning]);
  const [mail] = await world.store.read((tx) => tx.deliveries.inState("lea", ["queued"]));
  expect(mail?.delivery.wake).toBe(false);
  expect(await world.events("budget_warning")).toMatchObject([{ scope: "agent", spent: 850, limit: 1000 }]);
});

test("four fifths of a run's budget are told to its coordinator too, once and without a wake", async () => {
  await using world = await budgetWorld(limited("run", { tokens: 1000 }));
  const run = { ...activeRun("run-2", 0), coordinatorName: "boss" };
  await world.store.transaction((tx) => tx.runs.insert(run));
  await world.agent("boss", { capability: "coordinator", runId: "run-2" });
  await world.agent("lea", { capability: "lead", runId: "run-2", parentName: "boss" });
  await world.agent("ann", { runId: "run-2", parentName: "lea" });
  await world.turn("ann", "t1", { tokens: 850 });
  await world.turn("lea", "t2", { tokens: 50 });
  for (const name of ["operator", "lea", "boss"]) {
    expect(await world.inbox(name)).toEqual(["[ENGINE] budget nearly used up: run run-2, tokens"]);
  }
  const [mail] = await world.store.read((tx) => tx.deliveries.inState("boss", ["queued"]));
  expect(mail?.delivery.wake).toBe(false);
  expect(mail?.message.body).toContain("the operator gives more with: ov budget raise run run-2 tokens <amount>");
});

test("an ended parent is not written to", async () => {
  await using world = await budgetWorld(limited("agent", { turns: 1 }));
  await world.agent("lea", { capability: "lead", state: "completed", outcome: "done" });
  await world.agent("ann", { parentName: "lea" });
  await world.turn("ann", "t1");
  expect([await world.inbox("operator"), await world.inbox("lea")]).toMatchObject([{ length: 1 }, []]);
});

test("a turn is settled once, by any supervisor and with any end", async () => {
  await using world = await budgetWorld();
  await world.agent("ann");
  await world.reserve("ann", "t1");
  await world.settle("ann", "t1", { costUsd: 1 });
  await world.settle("ann", "t1", { costUsd: 5 });
  await world.store.transaction((tx) => releaseReservation(tx, "t1", world.terms()));
  const [turns, usd] = await Promise.all(["turns", "usd"].map((unit) => agentLedger(world, unit)));
  expect([turns?.spent, usd?.spent, usd?.reserved]).toEqual([1, 1_000_000, 0]);
});

test("reserving the same turn again sets nothing more aside, and releasing it gives all back", async () => {
  await using world = await budgetWorld();
  await world.agent("ann");
  expect([await world.reserve("ann", "t1"), await world.reserve("ann", "t1")]).toEqual([{ ok: true }, { ok: true }]);
  expect(await agentLedger(world, "turns")).toMatchObject({ reserved: 1, spent: 0 });
  expect(await agentLedger(world, "minutes")).toMatchObject({ reserved: 300_000 });
  await world.store.transaction((tx) => releaseReservation(tx, "t1", world.terms()));
  expect(await agentLedger(world, "turns")).toMatchObject({ reserved: 0, spent: 0 });
  expect((await world.reserve("ann", "t1")).ok).toBe(true);
});

test("a reservation whose turn was cancelled comes back when the engine looks", async () => {
  await using world = await budgetWorld(limited("run", { turns: 1 }));
  const ann = await world.agent("ann");
  await world.agent("bob");
  await world.reserve("ann", `first-${ann.id}`);
  expect((await world.reserve("bob", "t2")).ok).toBe(false);
  await world.store.transaction((tx) => tx.turns.cancelQueued(ann.id, world.now));
  expect(await world.store.transaction((tx) => recheckBudgets(tx, world.terms()))).toMatchObject({ resumed: ["bob"] });
  expect((await world.reserve("bob", "t2")).ok).toBe(true);
});

test("the next generation goes on with what the name has spent", async () => {
  await using world = await budgetWorld(limited("agent", { turns: 2 }));
  await world.agent("ann", { state: "completed", outcome: "done" });
  await world.turn("ann", "t1");
  await world.agent("ann", { id: "agent-ann-2", generation: 2 });
  await world.turn("ann", "t2");
  expect((await world.reserve("ann", "t3")).ok).toBe(false);
});

test("who waits only for what running turns hold goes on when they leave something, without a mail", async () => {
  await using world = await budgetWorld({
    ...limited("run", { usd: 1 }),
    estimate: { usd: 0.7, tokens: 1, minutes: 1 },
  });
  await world.agent("ann");
  await world.agent("bob");
  await world.reserve("ann", "t1");
  expect(await world.reserve("bob", "t2")).toMatchObject({ ok: false, exceeded: { spent: 0, reserved: 700_000 } });
  expect(await world.ready()).toEqual(["ann"]);
  expect(await world.inbox("operator")).toEqual([]);
  await world.settle("ann", "t1", { costUsd: 0.3 });
  expect(await world.waits("bob")).toEqual([]);
  expect(await world.ready()).toContain("bob");
  expect((await world.reserve("bob", "t2")).ok).toBe(true);
  expect(await world.events("budget_wait")).toHaveLength(1);
  expect(await world.events("budget_resumed")).toEqual([{ ref: "run:run-1:usd" }]);
});

test("when they leave nothing, the operator is told then", async () => {
  await using world = await budgetWorld(limited("run", { usd: 0.2 }));
  await world.agent("ann");
  await world.agent("bob");
  await world.reserve("ann", "t1");
  await world.reserve("bob", "t2");
  await world.settle("ann", "t1", { costUsd: 0.3 });
  expect(await world.waits("bob")).toEqual(["budget run:run-1:usd"]);
  expect(await world.inbox("operator")).toContain("[ENGINE] budget used up: run run-1, dollars");
});

test("a day's budget comes back at midnight UTC by itself", async () => {
  await using world = await budgetWorld(limited("day", { turns: 1 }));
  await world.agent("ann");
  await world.turn("ann", "t1");
  expect(await world.reserve("ann", "t2")).toMatchObject({ exceeded: { scope: "day", subject: "2026-01-01" } });
  const midnight = Date.UTC(2026, 0, 2);
  const early = await world.store.transaction((tx) => recheckBudgets(tx, world.terms()));
  expect(early).toEqual({ resumed: [], nextAt: midnight });
  world.now = midnight;
  expect(await world.lift()).toEqual(["ann"]);
  expect(await world.ready()).toEqual(["ann"]);
  await world.turn("ann", "t2");
});

test("a turn that gets its reservation ends the wait of its agent, should nobody have looked before", async () => {
  await using world = await budgetWorld(limited("day", { turns: 1 }));
  await world.agent("ann");
  await world.turn("ann", "t1");
  await world.reserve("ann", "t2");
  world.now = Date.UTC(2026, 0, 2);
  expect((await world.reserve("ann", "t2")).ok).toBe(true);
  expect(await world.waits("ann")).toEqual([]);
});

test("a limit lifted in the configuration frees who waited for it", async () => {
  await using world = await budgetWorld(limited("task", { turns: 1 }));
  await world.agent("ann");
  await world.turn("ann", "t1");
  await world.reserve("ann", "t2");
  expect(await world.lift()).toEqual([]);
  world.limits = noBudgets;
  expect(await world.lift()).toEqual(["ann"]);
});

test("an unknown cost leaves the dollars alone and the tokens in force", async () => {
  await using world = await budgetWorld({
    ...noBudgets,
    agent: { usd: 1, tokens: 100, turns: 0, minutes: 0 },
  });
  await world.agent("ann");
  await world.turn("ann", "t1", { costUsd: null, tokens: 120 });
  expect(await world.reserve("ann", "t2")).toMatchObject({ ok: false, exceeded: { unit: "tokens", spent: 120 } });
  expect(await agentLedger(world, "usd")).toMatchObject({ spent: 0, reserved: 0 });
});

test("the tokens recorded for a turn are what it is settled with, and its time is that from its start", async () => {
  await using world = await budgetWorld();
  const agent = await world.agent("ann");
  await world.reserve("ann", "t1");
  const row = { turnId: "t1", messageId: "m1", agentName: "ann", runId: "run-1", taskId: null, model: null };
  const counts = { input: 10, output: 1, cacheRead: 99, cacheWrite: 5, createdAt: world.now };
  await world.store.transaction((tx) => recordUsage(tx, [{ ...row, ...counts }]));
  await world.store.transaction((tx) => recordUsage(tx, [{ ...row, ...counts, output: 30 }]));
  const turn = { id: "t1", startedAt: world.now - 90_000 };
  await world.store.transaction((tx) => settleTurnBudget(tx, { ...world.terms(), turn, agent, costUsd: null }));
  expect(await agentLedger(world, "tokens")).toMatchObject({ spent: 45 });
  expect(await agentLedger(world, "minutes")).toMatchObject({ spent: 90_000 });
});

async function agentLedger(world: Awaited<ReturnType<typeof budgetWorld>>, unit: string) {
  const ledgers = await world.store.read((tx) => tx.budgets.of([{ scope: "agent", subject: "ann" }]));
  return ledgers.find((ledger) => ledger.unit === unit);
}

test("a limit in dollars without known prices is reported once, with the limit of tokens that holds instead", async () => {
  await using world = await budgetWorld(limited("run", { usd: 5, tokens: 1_000 }));
  for (const name of ["ann", "bob"]) {
    await world.agent(name);
    await world.turn(name, `t-${name}`, { costUsd: null, tokens: 15 });
  }
  await world.turn("ann", "known", { costUsd: 0.5, tokens: 15 });
  const ledgers = await world.store.read((tx) => tx.budgets.list());
  const unpriced = ledgers.filter((ledger) => ledger.unpriced > 0);
  expect(unpriced.map(({ scope, unit, unpriced: turns }) => `${scope} ${unit} ${turns}`)).toEqual([
    "agent usd 1",
    "agent usd 1",
    "day usd 2",
    "run usd 2",
    "task usd 1",
    "task usd 1",
  ]);
  expect(await world.inbox("operator")).toEqual(["[ENGINE] budget does not hold: run run-1, dollars"]);
  const [told] = await world.store.read((tx) => tx.messages.list({ type: "status" }));
  expect(told?.body).toContain("Its limit of 1000 tokens holds instead.");
  expect(await world.events("budget_unpriced")).toMatchObject([{ scope: "run", subject: "run-1", tokens: 1_000 }]);
});
