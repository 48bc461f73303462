import { expect } from "bun:test";
import { type BudgetScope, type BudgetUnit, noBudgets, refOf } from "../../../src/domain/budget/budget.ts";
import type { Usage } from "../../../src/domain/budget/usage.ts";
import { randomIds } from "../../../src/host/ids.ts";
import type { Store, Tx } from "../../../src/ports/store.ts";
import { reserveTurn, settleTurnBudget } from "../../../src/usecases/budgets/turn-budget.ts";
import type { Check } from "./database.ts";
import { anAgent, aTurn, noon, seed } from "./rows.ts";

const run = { scope: "run", subject: "r1" } as const;
const usdOfRun = { ...run, unit: "usd" } as const;
const turnsOfRun = { ...run, unit: "turns" } as const;

const usage = (change: Partial<Usage> = {}): Usage => ({
  turnId: "t1",
  messageId: "m1",
  agentName: "b1",
  runId: "r1",
  taskId: null,
  model: null,
  input: 100,
  output: 3,
  cacheRead: 5_000_000_000,
  cacheWrite: 7,
  createdAt: noon,
  ...change,
});

export function budgetPromises(check: Check): void {
  check("what is booked on a ledger adds up, and a ledger is there from its first booking", async ({ store }) => {
    await store.transaction(async (tx) => {
      expect(await tx.budgets.of([run])).toEqual([]);
      await tx.budgets.book([], noon);
      await tx.budgets.book(
        [
          { ...usdOfRun, spent: 0, reserved: 5_000_000_000 },
          { ...turnsOfRun, spent: 0, reserved: 1 },
        ],
        noon,
      );
      await tx.budgets.book([{ ...usdOfRun, spent: 7_000_000_000, reserved: -5_000_000_000 }], noon + 1);
      await tx.budgets.book([{ scope: "day", subject: "2026-01-01", unit: "turns", spent: 1, reserved: 0 }], noon);
    });
    await store.read(async (tx) => {
      expect(await tx.budgets.of([run])).toEqual([
        { ...turnsOfRun, given: null, raised: 0, spent: 0, reserved: 1, unpriced: 0, warned: false, updatedAt: noon },
        {
          ...usdOfRun,
          given: null,
          raised: 0,
          spent: 7_000_000_000,
          reserved: 0,
          unpriced: 0,
          warned: false,
          updatedAt: noon + 1,
        },
      ]);
      expect(await tx.budgets.of([])).toEqual([]);
      expect((await tx.budgets.list()).map(({ scope, unit }) => `${scope} ${unit}`)).toEqual([
        "day turns",
        "run turns",
        "run usd",
      ]);
    });
  });

  check("a warning is noted once, until the limit is raised", async ({ store }) => {
    const warn = () => store.transaction((tx) => tx.budgets.warn(usdOfRun, noon));
    expect(await warn()).toBe(false);
    await store.transaction((tx) => tx.budgets.book([{ ...usdOfRun, spent: 3, reserved: 0 }], noon));
    expect([await warn(), await warn()]).toEqual([true, false]);
    await store.transaction((tx) => tx.budgets.raise(usdOfRun, 10, noon));
    await store.transaction((tx) => tx.budgets.raise(usdOfRun, 5, noon));
    expect(await store.read((tx) => tx.budgets.of([run]))).toMatchObject([{ raised: 15, spent: 3, warned: false }]);
    expect(await warn()).toBe(true);
    await store.transaction((tx) => tx.budgets.raise({ ...usdOfRun, subject: "r2" }, 10, noon));
    const untouched = await store.read((tx) => tx.budgets.of([{ ...run, subject: "r2" }]));
    expect(untouched).toMatchObject([{ raised: 10, spent: 0 }]);
  });

  check("a limit of its own is given to one subject, and a later one replaces it", async ({ store }) => {
    await store.transaction((tx) => tx.budgets.book([{ ...usdOfRun, spent: 3, reserved: 0 }], noon));
    await store.transaction((tx) => tx.budgets.give(usdOfRun, 10, noon));
    await store.transaction((tx) => tx.budgets.give(usdOfRun, 20, noon));
    expect(await store.read((tx) => tx.budgets.of([run]))).toMatchObject([{ given: 20, raised: 0, spent: 3 }]);
    expect(await store.read((tx) => tx.budgets.of([{ ...run, subject: "r2" }]))).toEqual([]);
  });

  check("what a turn set aside is handed out once", async ({ store }) => {
    const held = [
      { ...turnsOfRun, amount: 1 },
      { ...usdOfRun, amount: 0 },
    ];
    await store.transaction(async (tx) => {
      await tx.budgets.hold("t1", held);
      await tx.budgets.hold("t2", []);
      expect([await tx.budgets.isHeld("t1"), await tx.budgets.isHeld("t2")]).toEqual([true, false]);
      expect((await tx.budgets.heldBy("t1")).length).toBeGreaterThan(0);
      expect(await tx.budgets.heldBy("t2")).toEqual([]);
    });
    const taken = await store.transaction((tx) => tx.budgets.take("t1"));
    expect(taken.toSorted((a, b) => b.amount - a.amount)).toEqual(held.map((each) => ({ turnId: "t1", ...each })));
    expect(await store.transaction((tx) => tx.budgets.take("t1"))).toEqual([]);
  });

  check("only turns that will never settle are abandoned", async ({ store }) => {
    const agents = ["b1", "b2", "b3"].map((name) => anAgent(name));
    await seed(store, ...agents);
    await store.transaction(async (tx) => {
      for (const agent of agents) await tx.turns.queue(aTurn(`t-${agent.name}`, agent));
      for (const id of ["t-b1", "t-b2", "t-b3", "t-gone"]) await tx.budgets.hold(id, [{ ...turnsOfRun, amount: 1 }]);
      await tx.turns.start("t-b2", { fence: 1, logDir: "/l", resumeRequested: null, now: noon });
      await tx.turns.cancel("t-b3", noon);
      expect(await tx.budgets.abandoned()).toEqual(["t-b3", "t-gone"]);
    });
  });

  check("a capability has spent what all agents that had it have", async ({ store }) => {
    const again = anAgent("b1", { generation: 2 });
    await seed(
      store,
      anAgent("b1", { state: "completed" }),
      again,
      anAgent("b2"),
      anAgent("s1", { capability: "scout" }),
    );
    const spend = (subject: string, spent: number, unit: "usd" | "turns" = "usd") =>
      ({ scope: "agent", subject, unit, spent, reserved: 9 }) as const;
    await store.transaction(async (tx) => {
      await tx.budgets.book([spend("b1", 10), spend("b1", 2, "turns"), spend("b2", 5), spend("s1", 100)], noon);
      expect(await tx.budgets.spentBy("builder")).toEqual({ usd: 15, tokens: 0, turns: 2, minutes: 0 });
      expect(await tx.budgets.spentBy("lead")).toEqual({ usd: 0, tokens: 0, turns: 0, minutes: 0 });
    });
  });

  check("those who wait for a budget are listed, longest first", async ({ store }) => {
    const wait = (agentName: string, since: number) =>
      ({ agentName, kind: "budget", ref: "run:r1:usd", since, deadline: null }) as const;
    await store.transaction(async (tx) => {
      await tx.waits.add(wait("b1", noon + 5));
      await tx.waits.add(wait("b2", noon));
      await tx.waits.add({ ...wait("b3", noon), kind: "operator" });
      expect(await tx.budgets.waiting()).toEqual([wait("b2", noon), wait("b1", noon + 5)]);
    });
  });

  check("a message's tokens are stored once per turn, with the largest numbers reported", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.usage.record(usage());
      await tx.usage.record(usage({ output: 90, input: 4, model: "large", createdAt: noon + 9 }));
      await tx.usage.record(usage({ output: 8 }));
      await tx.usage.record(usage({ messageId: "m2", taskId: "x", createdAt: noon + 1 }));
      await tx.usage.record(usage({ turnId: "t2" }));
      expect(await tx.usage.ofTurn("t1")).toEqual([
        usage({ output: 90, model: "large" }),
        usage({ messageId: "m2", taskId: "x", createdAt: noon + 1 }),
      ]);
    });
  });

  check("the tokens of a conversation are summed over the generations of its agent", async ({ store }) => {
    const first = { ...anAgent("b1"), id: "b1-1", state: "completed" as const };
    const second = { ...anAgent("b1"), id: "b1-2", generation: 2 };
    await seed(store, first, second, anAgent("b2"));
    const of = { agentName: "b1", providerSessionId: "p1", except: "t3" };
    await store.transaction(async (tx) => {
      expect(await tx.usage.inConversation(of)).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 });
      const turns = [
        [aTurn("t1", first), "p1"],
        [aTurn("t2", second), "p1"],
        [aTurn("t3", second), "p1"],
        [aTurn("t4", second), "p2"],
        [aTurn("t5", anAgent("b2")), "p1"],
      ] as const;
      for (const [turn, session] of turns) {
        await tx.turns.queue(turn);
        await tx.turns.cancelQueued(turn.agentId, noon);
        await tx.turns.sawProviderSession(turn.id, session);
        await tx.usage.record(usage({ turnId: turn.id }));
      }
      await tx.usage.record(usage({ turnId: "t2", messageId: "m2" }));
      expect(await tx.usage.inConversation(of)).toEqual({
        input: 300,
        output: 9,
        cacheRead: 15_000_000_000,
        cacheWrite: 21,
      });
    });
  });

  check("an answer is known when a turn of the agent has told it, in any generation", async ({ store }) => {
    const [first, second] = [anAgent("b1", { state: "completed" }), anAgent("b1", { generation: 2 })];
    await seed(store, first, second, anAgent("b2"));
    await store.transaction(async (tx) => {
      for (const [turnId, agent] of [
        ["t1", first],
        ["t2", second],
        ["t3", anAgent("b2")],
      ] as const) {
        await tx.turns.queue(aTurn(turnId, agent));
        await tx.usage.record(usage({ turnId, messageId: `m-${turnId}` }));
      }
      const asked = ["m-t3", "m-t2", "m-t1", "none"];
      expect(await tx.usage.knownAnswers("b1", asked)).toEqual(["m-t2", "m-t1"]);
    });
  });

  check(
    "ledgers in use are those of live agents, their tasks, active runs and the day, where something limits them",
    async ({ store }) => {
      await seed(store, anAgent("b1", { taskId: "t1" }), anAgent("b2", { taskId: "t2", state: "completed" }));
      const booked = (scope: BudgetScope, subject: string, unit: BudgetUnit) =>
        ({ scope, subject, unit, spent: 1, reserved: 0 }) as const;
      await store.transaction(async (tx) => {
        for (const subject of ["r1", "r0"]) await tx.budgets.book([booked("run", subject, "usd")], noon);
        for (const subject of ["b1", "b2"]) await tx.budgets.book([booked("agent", subject, "turns")], noon);
        for (const subject of ["t1", "t2"]) await tx.budgets.book([booked("task", subject, "usd")], noon);
        for (const subject of ["2026-01-01", "2026-01-02"])
          await tx.budgets.book([booked("day", subject, "usd")], noon);
        await tx.budgets.give({ scope: "agent", subject: "b1", unit: "tokens" }, 5, noon);
      });
      const inUse = async (...limited: readonly { scope: BudgetScope; unit: BudgetUnit }[]) =>
        (await store.read((tx) => tx.budgets.inUse("2026-01-02", limited))).map(refOf);
      expect(await inUse()).toEqual(["agent:b1:tokens"]);
      expect(await inUse({ scope: "run", unit: "usd" }, { scope: "day", unit: "usd" })).toEqual([
        "agent:b1:tokens",
        "day:2026-01-02:usd",
        "run:r1:usd",
      ]);
      expect(await inUse({ scope: "agent", unit: "turns" }, { scope: "task", unit: "usd" })).toEqual([
        "agent:b1:tokens",
        "agent:b1:turns",
        "task:t1:usd",
      ]);
    },
  );

  check("agents that start at one moment, in two processes, cannot together go over", async ({ store, another }) => {
    const agents = Array.from({ length: 8 }, (_, n) => anAgent(`b${n}`));
    await seed(store, ...agents);
    const stores: readonly Store[] = [store, await another()];
    const limits = { ...noBudgets, run: { ...noBudgets.run, turns: 3 } };
    const terms = { limits, ids: randomIds, now: noon };
    const turnOf = (name: string) => ({ id: `t-${name}`, startedAt: noon });
    const inTurn = <T>(n: number, work: (tx: Tx) => Promise<T>): Promise<T> =>
      (stores[n % stores.length] ?? store).transaction(work);
    const reserveAll = () =>
      Promise.all(
        agents.map((agent, n) =>
          inTurn(n, (tx) => reserveTurn(tx, { ...terms, turn: turnOf(agent.name), agent })).then(({ ok }) => ok),
        ),
      );
    const first = await reserveAll();
    expect(first.filter((started) => started)).toHaveLength(3);
    expect(await reserveAll()).toEqual(first);
    await Promise.all(
      agents.flatMap((agent, n) => [
        inTurn(n, (tx) => settleTurnBudget(tx, { ...terms, turn: turnOf(agent.name), agent, costUsd: 1 })),
        inTurn(n + 1, (tx) => settleTurnBudget(tx, { ...terms, turn: turnOf(agent.name), agent, costUsd: 1 })),
      ]),
    );
    const ledgers = await store.read((tx) => tx.budgets.of([run]));
    expect(ledgers.find(({ unit }) => unit === "turns")).toMatchObject({ spent: 3, reserved: 0 });
    expect(ledgers.find(({ unit }) => unit === "usd")).toMatchObject({ spent: 3_000_000, reserved: 0 });
    const told = await store.read((tx) => tx.deliveries.inState("operator", ["queued"]));
    const subjects = told.map(({ message }) => message.subject).toSorted();
    expect(subjects).toEqual([
      "[ENGINE] budget nearly used up: run r1, turns",
      "[ENGINE] budget used up: run r1, turns",
    ]);
  });
}
