import { expect, test } from "bun:test";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { assessHealth } from "./assess-health.ts";

const limits = {
  staleThresholdMs: 300_000,
  zombieThresholdMs: 600_000,
  nudgeIntervalMs: 60_000,
  maxEscalationLevel: 3,
};

test("everybody is judged by the facts of the store, and nothing is written", async () => {
  await using world = await mailWorld();
  const seen = (ms: number) => ({ lastActivityAt: world.clock.now - ms });
  await world.seat("fresh", seen(1000));
  await world.seat("silent", seen(301_000));
  await world.seat("lost", seen(601_000));
  await world.seat("busy", { ...seen(400_000), state: "in_turn" });
  await world.beginTurn("busy");
  await world.seat("asking", seen(900_000));
  await world.seat("ended", { state: "completed", outcome: "done" });
  await world.store.transaction((tx) =>
    tx.waits.add({ agentName: "asking", kind: "reply", ref: "m1", since: 0, deadline: null }),
  );
  const before = await world.store.read((tx) => tx.events.last());
  const { agents } = await world.must(assessHealth, { limits });
  const told = Object.fromEntries(agents.map(({ agent, assessment }) => [agent.name, assessment.status]));
  expect(told).toEqual({ fresh: "idle", silent: "stalled", lost: "gone", busy: "stalled", asking: "waiting" });
  expect(await world.store.read((tx) => tx.events.last())).toBe(before);
  expect((await world.store.read((tx) => tx.agents.byName("lost")))?.state).toBe("between_turns");
});

test("ended agents are told about when asked for, with how they ended", async () => {
  await using world = await mailWorld();
  await world.seat("ended", { state: "zombie", outcome: "crashed" });
  expect((await world.must(assessHealth, { limits })).agents).toEqual([]);
  expect((await world.must(assessHealth, { limits, all: true })).agents).toMatchObject([
    { assessment: { status: "ended", note: "crashed" } },
  ]);
});
