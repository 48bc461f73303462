import { expect } from "bun:test";
import type { Spending } from "../../../src/domain/cost/spending.ts";
import type { Check } from "./database.ts";
import { anAgent, noon, seed } from "./rows.ts";

export const aSpending = (source: string, change: Partial<Spending> = {}): Spending => ({
  source,
  part: 0,
  model: "large",
  agentId: "agent-1",
  agentName: "b1",
  capability: "builder",
  runtime: "claude",
  runId: "r1",
  taskId: "T1",
  told: true,
  input: 100,
  output: 10,
  cacheRead: 5_000_000_000,
  cacheWrite: 1,
  costMicros: 9_000_000_000,
  costSource: "reported",
  priceVersion: null,
  startedAt: noon,
  endedAt: noon + 60_000,
  ...change,
});

export function spendingPromises(check: Check): void {
  check("the sums of every dimension are those of the rows, with and without a filter", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.spending.book([]);
      await tx.spending.book([aSpending("t1"), aSpending("t1", { part: 1, model: null, costMicros: null, input: 1 })]);
      await tx.spending.book([
        aSpending("t2", { agentId: "agent-2", agentName: "b2", runId: "r2", endedAt: noon + 90_000 }),
      ]);
      await tx.spending.book([
        aSpending("session:s1", { agentId: null, agentName: "operator", runId: null, taskId: null, told: false }),
      ]);
    });
    await store.read(async (tx) => {
      expect(await tx.spending.ofSource("t1")).toHaveLength(2);
      expect((await tx.spending.sums("session", {}, 10)).map(({ key, turns, input }) => [key, turns, input])).toEqual([
        ["agent-2", 1, 100],
        ["session:s1", 1, 100],
        ["agent-1", 1, 101],
      ]);
      expect(await tx.spending.sums("session", {}, 1)).toMatchObject([{ key: "agent-2" }]);
      expect(await tx.spending.sumsOf("run", ["r2", "none"])).toMatchObject([{ key: "r2", lastAt: noon + 90_000 }]);
      for (const dimension of [
        "session",
        "agent",
        "task",
        "run",
        "capability",
        "runtime",
        "model",
        "quarter",
      ] as const) {
        const kept = await tx.spending.sums(dimension, {}, 10);
        const summed = await tx.spending.sums(dimension, { runtime: "claude" }, 10);
        expect([dimension, summed]).toEqual([dimension, kept]);
      }
      expect(await tx.spending.sums("model", { agentName: "b1" }, 10)).toMatchObject([
        { key: "large", turns: 1, unpriced: 0, costMicros: 9_000_000_000, cacheRead: 5_000_000_000 },
        { key: "", turns: 1, unpriced: 1, costMicros: 0 },
      ]);
      const inTime = { since: noon + 60_001, until: noon + 90_000 };
      expect(await tx.spending.sums("agent", inTime, 10)).toMatchObject([{ key: "b2", turns: 1 }]);
      expect(await tx.spending.steps("agent", { runId: "r1" }, 60_000)).toEqual([
        { key: "b1", step: Math.floor((noon + 60_000) / 60_000), costMicros: 9_000_000_000 },
      ]);
      expect(await tx.spending.steps("run", {}, 60_000)).toHaveLength(2);
    });
  });

  check("the newest row of an incarnation is that of its last turn, its first model", async ({ store }) => {
    const agent = anAgent("b1");
    await seed(store, agent, anAgent("b2"));
    await store.transaction(async (tx) => {
      expect(await tx.spending.newestOf(agent.id)).toBeUndefined();
      const mine = { agentId: agent.id, endedAt: noon + 1 };
      await tx.spending.book([aSpending("t1", { agentId: agent.id, endedAt: noon })]);
      await tx.spending.book([aSpending("t2", mine), aSpending("t2", { ...mine, part: 1, model: "small" })]);
      await tx.spending.book([aSpending("t3", { agentName: "b2", agentId: anAgent("b2").id, endedAt: noon + 9 })]);
      expect(await tx.spending.newestOf(agent.id)).toMatchObject({ source: "t2", part: 0 });
    });
  });

  check("a source that is booked again is there once", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.spending.book([aSpending("session:s1", { costMicros: null })]);
      await tx.spending.book([aSpending("session:s1", { input: 300, endedAt: noon + 120_000 })]);
    });
    await store.read(async (tx) => {
      expect(await tx.spending.ofSource("session:s1")).toMatchObject([{ input: 300 }]);
      expect(await tx.spending.sums("agent", {}, 10)).toMatchObject([
        { key: "b1", turns: 1, unpriced: 0, input: 300, durationMs: 120_000, firstAt: noon, lastAt: noon + 120_000 },
      ]);
    });
  });
}
