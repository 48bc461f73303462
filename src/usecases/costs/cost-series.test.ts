import { expect, test } from "bun:test";
import { anEntry } from "../../../testkit/contracts/store/merges.ts";
import { aSpending } from "../../../testkit/contracts/store/spending.ts";
import { activeRun, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import { costSeries } from "./cost-series.ts";

const minute = 60_000;

test("costs grow in steps, the largest first; what no runtime reported is unknown and not 0", async () => {
  await using world = useCaseWorld();
  const start = world.now() - 60 * minute;
  const spent = (source: string, agentName: string, minutes: number, costMicros: number | null) =>
    aSpending(source, {
      agentName,
      agentId: agentName,
      capability: agentName === "lead" ? "lead" : "builder",
      runId: "run-1",
      costMicros,
      startedAt: start,
      endedAt: start + minutes * minute,
    });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", start));
    await tx.agents.reserve(storedAgent("b1", { runId: "run-1" }));
    await tx.spending.book([spent("t1", "b1", 10, 2_000_000)]);
    await tx.spending.book([spent("t2", "b1", 50, 1_000_000)]);
    await tx.spending.book([spent("t3", "lead", 30, 1_000_000)]);
    await tx.spending.book([spent("t4", "silent", 40, null)]);
    const landed = { runId: "run-1", agentName: "b1", status: "merged", updatedAt: start + minute } as const;
    await tx.merges.insert(anEntry("overstory/b1/T1", landed));
  });
  const reply = await world.must(costSeries, { by: "agent", runId: "run-1" });
  expect(reply.series.map(({ key, micros }) => [key, micros[0], micros.at(-1)])).toEqual([
    ["b1", 0, 3_000_000],
    ["lead", 0, 1_000_000],
  ]);
  expect(reply.times).toHaveLength(reply.series[0]?.micros.length ?? 0);
  expect(reply.rows.map(({ key, share, landed, totals }) => [key, share, landed, totals.unpriced])).toEqual([
    ["b1", 75, 1, 0],
    ["lead", 25, 0, 0],
    ["silent", null, 0, 1],
  ]);
  expect(reply.coordinationShare).toBe(25);
  expect(reply.rate).toMatchObject({ microsPerHour: expect.any(Number) });
  expect(reply.limit).toBeNull();
  const models = await world.must(costSeries, { by: "model", runId: "run-1" });
  expect(models.rows.map(({ landed }) => landed)).toEqual([null]);
});

test("a window shows its spending above the spending before it, and an empty window is refused", async () => {
  await using world = useCaseWorld();
  const start = world.now() - 60 * minute;
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", start));
    const of = { runId: "run-1", startedAt: start };
    await tx.spending.book([aSpending("t1", { ...of, costMicros: 5, endedAt: start + 5 * minute })]);
    await tx.spending.book([aSpending("t2", { ...of, costMicros: 7, endedAt: start + 50 * minute })]);
  });
  const reply = await world.must(costSeries, { by: "agent", runId: "run-1", lastMs: 30 * minute });
  expect(reply.series.map(({ micros }) => [micros[0], micros.at(-1)])).toEqual([[5, 12]]);
  expect(reply.totals.costMicros).toBe(7);
  const nothing = { by: "agent", runId: "run-1", lastMs: 0 } as const;
  expect(await world.call(costSeries, nothing)).toMatchObject({ refusal: { kind: "invalid", field: "lastMs" } });
  expect(await world.call(costSeries, { by: "agent", runId: "run-9" })).toMatchObject({
    refusal: { kind: "not-found" },
  });
});
