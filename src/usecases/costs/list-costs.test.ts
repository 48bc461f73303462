import { expect, test } from "bun:test";
import { anEntry } from "../../../testkit/contracts/store/merges.ts";
import { aSpending } from "../../../testkit/contracts/store/spending.ts";
import { activeRun, storedAgent, useCaseWorld } from "../../../testkit/use-case.ts";
import { groupCosts, listCosts } from "./list-costs.ts";

const branch = "overstory/b1/T1";

test("an incarnation counts as merged by its own entry of the queue, not by one of its predecessor or successor", async () => {
  await using world = useCaseWorld();
  const b1 = (generation: number, startedAt: number) =>
    storedAgent("b1", { id: `b1-${generation}`, generation, branch, startedAt, state: "completed", outcome: "done" });
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    for (const [generation, startedAt] of [
      [1, 10],
      [2, 20],
      [3, 30],
    ] as const) {
      const of = { agentId: `b1-${generation}`, agentName: "b1" };
      await tx.agents.reserve(b1(generation, startedAt));
      await tx.spending.book([aSpending(`turn-${generation}`, { ...of, endedAt: startedAt + 5 })]);
    }
    await tx.merges.insert(anEntry(branch, { enqueuedAt: 15, status: "conflict" }));
    await tx.merges.insert(anEntry(branch, { enqueuedAt: 25, status: "merged", tier: "clean-merge" }));
  });
  const { sessions } = await world.must(listCosts, { last: 10 });
  expect(sessions.map(({ generation, status }) => [generation, status])).toEqual([
    [3, "submitted"],
    [2, "submitted"],
    [1, "submitted"],
  ]);
  expect(Object.fromEntries(sessions.map(({ sessionId, mergeTier }) => [sessionId, mergeTier]))).toEqual({
    "b1-1": null,
    "b1-2": "clean-merge",
    "b1-3": null,
  });
});

test("a name is found however it is typed, and one that never was is refused", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    await tx.agents.reserve(storedAgent("b1"));
    await tx.spending.book([aSpending("turn-1", { agentId: "agent-b1", agentName: "b1" })]);
    await tx.spending.book([aSpending("session:s", { agentId: null, agentName: "me" })]);
  });
  expect((await world.must(listCosts, { last: 10, agentName: "B1" })).sessions).toHaveLength(1);
  expect((await world.must(listCosts, { last: 10, agentName: "me" })).sessions).toHaveLength(1);
  expect(await world.call(listCosts, { last: 10, agentName: "b9" })).toMatchObject({ refusal: { kind: "not-found" } });
});

test("beside the sums of what is listed stand those of all that fits, also of turns without a task", async () => {
  await using world = useCaseWorld();
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    for (const [turn, taskId] of [
      ["turn-1", "T1"],
      ["turn-2", "T2"],
      ["turn-3", null],
    ] as const) {
      await tx.agents.reserve(storedAgent(`of-${turn}`, { id: `agent-${turn}`, taskId }));
      const of = { agentId: `agent-${turn}`, agentName: `of-${turn}`, taskId, costMicros: 100 };
      await tx.spending.book([aSpending(turn, of)]);
    }
  });
  const sums = ({ totals, all }: Record<"totals" | "all", { readonly turns: number; readonly costMicros: number }>) =>
    [totals, all].map(({ turns, costMicros }) => [turns, costMicros]);
  const grouped = { zone: "UTC", last: 10 };
  expect(sums(await world.must(groupCosts, { ...grouped, by: "task" }))).toEqual([
    [2, 200],
    [3, 300],
  ]);
  expect(sums(await world.must(groupCosts, { ...grouped, by: "task", last: 1 }))).toEqual([
    [1, 100],
    [3, 300],
  ]);
  expect(sums(await world.must(groupCosts, { ...grouped, by: "day" }))).toEqual([
    [3, 300],
    [3, 300],
  ]);
  expect(sums(await world.must(groupCosts, { ...grouped, by: "task", taskId: "T1" }))).toEqual([
    [1, 100],
    [1, 100],
  ]);
  expect(sums(await world.must(listCosts, { last: 2 }))).toEqual([
    [2, 200],
    [3, 300],
  ]);
});
