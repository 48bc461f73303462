import { expect, test } from "bun:test";
import { budgetWorld, limited } from "../../../testkit/budget-world.ts";
import { noBudgets } from "../../domain/budget/budget.ts";
import { raiseBudget } from "./raise-budget.ts";
import { showBudgets } from "./show-budgets.ts";

const more = { scope: "run", subject: "run-1", unit: "usd", amount: 0.5 };

test("only the operator may raise a limit", () => {
  expect(raiseBudget).toMatchObject({ operatorOnly: true, kind: "write" });
});

test("a raise lets every agent go on that was parked for want of it, and the next crossing is told anew", async () => {
  await using world = await budgetWorld(limited("run", { usd: 1 }));
  for (const name of ["ann", "bob"]) await world.agent(name);
  await world.turn("ann", "t1", { costUsd: 1 });
  await world.reserve("ann", "t2");
  await world.reserve("bob", "t3");
  expect(await world.ready()).toEqual([]);
  expect(await world.call(raiseBudget, more)).toEqual({
    ok: true,
    value: {
      scope: "run",
      subject: "run-1",
      unit: "usd",
      limit: 1.5,
      spent: 1,
      resumed: ["ann", "bob"],
      parked: [],
      exhausted: false,
    },
  });
  expect(await world.ready()).toEqual(["ann", "bob"]);
  expect(await world.events("budget_raised")).toMatchObject([{ by: 0.5, limit: 1.5 }]);
  await world.turn("bob", "t3", { costUsd: 0.6 });
  expect((await world.reserve("ann", "t2")).ok).toBe(false);
  const told = await world.inbox("operator");
  expect(told.filter((subject) => subject.includes("budget used up"))).toHaveLength(2);
  expect(told.filter((subject) => subject.includes("budget nearly used up"))).toHaveLength(2);
});

test("an agent without a queued turn gets one that needs no mail", async () => {
  await using world = await budgetWorld(limited("agent", { turns: 1 }));
  const ann = await world.agent("ann");
  await world.turn("ann", "t1");
  await world.reserve("ann", "t2");
  await world.store.transaction((tx) => tx.turns.cancelQueued(ann.id, world.now));
  await world.call(raiseBudget, { scope: "agent", subject: "ann", unit: "turns", amount: 1 });
  expect(await world.store.read((tx) => tx.turns.queuedFor(ann.id))).toMatchObject({
    trigger: "nudge",
    reason: "the budget agent:ann:turns has room again",
    attempt: 1,
  });
});

test("a run's own limit counts for that run alone, instead of the configured one, and can be raised", async () => {
  await using world = await budgetWorld(limited("run", { usd: 100 }));
  const second = {
    id: "run-2",
    objective: null,
    targetBranch: null,
    landingBranch: null,
    coordinatorName: null,
    checklist: false,
    startCommit: null,
  };
  await world.store.transaction(async (tx) => {
    await tx.runs.insert({ ...second, status: "active", startedAt: 0, completedAt: null });
    await tx.budgets.give({ scope: "run", subject: "run-1", unit: "usd" }, 1_000_000, 0);
  });
  await world.agent("ann");
  await world.agent("bob", { runId: "run-2" });
  await world.turn("ann", "t1", { costUsd: 1 });
  await world.turn("bob", "t2", { costUsd: 1 });
  expect(await world.reserve("ann", "t3")).toMatchObject({ ok: false, exceeded: { subject: "run-1" } });
  expect(await world.reserve("bob", "t4")).toMatchObject({ ok: true });
  world.limits = noBudgets;
  expect(await world.call(raiseBudget, more)).toMatchObject({ value: { limit: 1.5, resumed: ["ann"] } });
  expect(await world.call(raiseBudget, { ...more, subject: "run-2" })).toMatchObject({ ok: false });
});

test("a raise that is already spent leaves the agents parked and says so", async () => {
  await using world = await budgetWorld(limited("run", { usd: 1 }));
  await world.agent("ann");
  await world.turn("ann", "t1", { costUsd: 3 });
  await world.reserve("ann", "t2");
  expect(await world.call(raiseBudget, more)).toMatchObject({
    value: { limit: 1.5, spent: 3, resumed: [], parked: ["ann"], exhausted: true },
  });
  expect(await world.call(raiseBudget, { ...more, amount: 2 })).toMatchObject({
    value: { limit: 3.5, resumed: ["ann"] },
  });
});

test("today can be raised by that word", async () => {
  await using world = await budgetWorld(limited("day", { minutes: 10 }));
  const raised = await world.call(raiseBudget, { scope: "day", subject: "today", unit: "minutes", amount: 2.5 });
  expect(raised).toMatchObject({ value: { subject: "2026-01-01", limit: 12.5 } });
});

test.each([
  [{ scope: "runs" }, { kind: "invalid", field: "scope", nearest: "run" }],
  [{ unit: "dollars" }, { kind: "invalid", field: "unit" }],
  [
    { unit: "tokens", amount: 1.5 },
    { kind: "invalid", field: "amount" },
  ],
  [{ amount: 0 }, { kind: "invalid", field: "amount" }],
  [{ amount: -1 }, { kind: "invalid", field: "amount" }],
  [{ amount: Number.NaN }, { kind: "invalid", field: "amount" }],
  [{ amount: 1e12 }, { kind: "invalid", field: "amount" }],
  [{ subject: "run-7" }, { kind: "not-found", noun: "run" }],
  [
    { scope: "agent", subject: "anne" },
    { kind: "not-found", noun: "agent", nearest: "ann" },
  ],
  [
    { scope: "task", subject: "t9" },
    { kind: "not-found", noun: "task" },
  ],
  [
    { scope: "day", subject: "2026-02-30" },
    { kind: "invalid", field: "subject" },
  ],
  [
    { scope: "day", subject: "2026-01-01", unit: "turns", amount: 1 },
    { kind: "invalid", field: "unit" },
  ],
])("%j is refused", async (change, refusal) => {
  const all = { usd: 1, tokens: 1, turns: 0, minutes: 1 };
  await using world = await budgetWorld({ ...noBudgets, agent: all, task: all, run: all, day: all });
  await world.agent("ann");
  expect(await world.call(raiseBudget, { ...more, ...change })).toMatchObject({ ok: false, refusal });
});

test("everything is shown in the units people write, the widest scope first", async () => {
  await using world = await budgetWorld(limited("agent", { usd: 2, turns: 4 }));
  await world.agent("ann");
  await world.turn("ann", "t1", { costUsd: 0.5, tokens: 10, minutes: 3 });
  await world.reserve("ann", "t2");
  await world.call(raiseBudget, { scope: "agent", subject: "ann", unit: "usd", amount: 0.5 });
  const shown = await world.call(showBudgets, {});
  if (!shown.ok) throw new Error("refused");
  const { budgets } = shown.value;
  expect(budgets.map(({ scope }) => scope)).toEqual(
    (["day", "run", "task", "agent"] as const).flatMap((scope) => [scope, scope, scope, scope]),
  );
  const ann = { scope: "agent", subject: "ann", reported: true, unpriced: 0, parked: [] } as const;
  expect(budgets.slice(-4)).toEqual([
    { ...ann, unit: "usd", limit: 2.5, raised: 0.5, spent: 0.5, reserved: 0.5, percent: 20 },
    { ...ann, unit: "tokens", limit: null, raised: 0, spent: 10, reserved: 10, percent: null },
    { ...ann, unit: "turns", limit: 4, raised: 0, spent: 1, reserved: 1, percent: 25 },
    { ...ann, unit: "minutes", limit: null, raised: 0, spent: 3, reserved: 3, percent: null },
  ]);
});

test("parked agents are named, and limits of today and of the current run show before anything was spent", async () => {
  await using world = await budgetWorld({ ...limited("run", { turns: 1 }), day: { ...noBudgets.day, usd: 5 } });
  const before = await world.call(showBudgets, {});
  expect(before).toMatchObject({
    value: {
      budgets: [
        { scope: "day", subject: "2026-01-01", unit: "usd", limit: 5, spent: 0, percent: 0 },
        { scope: "run", subject: "run-1", unit: "turns", limit: 1, spent: 0, percent: 0 },
      ],
    },
  });
  for (const name of ["ann", "bob"]) await world.agent(name);
  await world.turn("ann", "t1", { tokens: 5 });
  for (const name of ["ann", "bob"]) await world.reserve(name, `t-${name}`);
  const after = await world.call(showBudgets, {});
  if (!after.ok) throw new Error("refused");
  expect(after.value.budgets.filter(({ parked }) => parked.length > 0)).toMatchObject([
    { scope: "run", unit: "turns", percent: 100, parked: ["ann", "bob"] },
  ]);
  expect(after.value.budgets.filter(({ reported }) => !reported).map(({ unit }) => unit)).toEqual([
    "usd",
    "usd",
    "usd",
    "usd",
  ]);
});
