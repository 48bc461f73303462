import { expect, test } from "bun:test";
import { minute, watchdogWorld } from "../../../testkit/watchdog-world.ts";
import { watchdogTick } from "./tick.ts";

const attached = { topology: "attached", state: "working", parentName: "lead" } as const;

test("watchdog.tier0Enabled: false switches it off", async () => {
  await using world = await watchdogWorld({ tier0Enabled: false });
  await world.seat("a1", attached);
  expect(await world.next()).toBeUndefined();
  world.clock.advance(60 * minute);
  await world.tick();
  expect((await world.agent("a1")).state).toBe("working");
  expect(await world.events()).toEqual([]);
});

test("watchdog.staleThresholdMs says when an agent is stalled", async () => {
  await using world = await watchdogWorld({ staleThresholdMs: minute });
  await world.seat("a1", attached);
  await world.pass(1.5 * minute);
  expect((await world.agent("a1")).state).toBe("stalled");
});

test("watchdog.zombieThresholdMs says when it is given up, whatever the ladder says", async () => {
  await using world = await watchdogWorld({ zombieThresholdMs: 6 * minute, nudgeIntervalMs: 60 * minute });
  await world.seat("a1", attached);
  await world.pass(5.9 * minute);
  expect((await world.agent("a1")).state).toBe("stalled");
  await world.pass(minute);
  expect((await world.agent("a1")).state).toBe("zombie");
});

test("watchdog.nudgeIntervalMs says how fast it climbs", async () => {
  await using world = await watchdogWorld({ nudgeIntervalMs: 3 * minute });
  await world.seat("a1", attached);
  await world.pass(7.9 * minute);
  expect(await world.events("nudge")).toEqual([]);
  await world.pass(0.2 * minute);
  expect(await world.events("nudge")).toHaveLength(1);
});

test("watchdog.maxEscalationLevel says on which level it ends", async () => {
  await using world = await watchdogWorld({ maxEscalationLevel: 1 });
  await world.seat("a1", attached);
  await world.pass(6.5 * minute);
  expect((await world.agent("a1")).state).toBe("zombie");
  expect(await world.events("nudge")).toEqual([]);
});

test("watchdog.tier0IntervalMs is the time between two ticks, at least", async () => {
  await using world = await watchdogWorld({ tier0IntervalMs: 4 * minute });
  await world.seat("a1", attached);
  expect(await world.pass(5 * minute + 2)).toBe(1);
  expect(await world.pass(3.9 * minute)).toBe(0);
  expect(await world.pass(0.2 * minute)).toBe(1);
});

test("a tick before its time does not even look, however often it is called", async () => {
  await using world = await watchdogWorld();
  await world.seat("a1", attached);
  await world.next();
  let reads = 0;
  const read: typeof world.store.read = (work) => {
    reads++;
    return world.store.read(work);
  };
  const ports = { ...world.ports, store: { ...world.store, read } };
  const tickAfter = async (ms: number): Promise<void> => {
    world.clock.advance(ms);
    await watchdogTick(ports, world.memory);
  };
  for (let i = 0; i < 5; i++) await tickAfter(minute);
  expect(reads).toBe(0);
  await tickAfter(1);
  expect(reads).toBe(1);
});

test("watchdog.notifyParentOnDeath: false ends an agent without telling its parent", async () => {
  await using world = await watchdogWorld({ notifyParentOnDeath: false });
  await world.seat("lead", { capability: "lead" });
  await world.seat("a1", attached);
  await world.pass(15 * minute);
  expect((await world.agent("a1")).state).toBe("zombie");
  expect((await world.mailTo("lead")).filter(({ type }) => type === "worker_died")).toEqual([]);
});

test("the notice of a death that was already sent is not sent again", async () => {
  await using world = await watchdogWorld();
  await world.seat("lead", { capability: "lead" });
  const { id } = await world.seat("a1", attached);
  await world.store.transaction((tx) => tx.notices.once(id, "worker_died", "", null));
  await world.pass(15 * minute);
  expect((await world.agent("a1")).state).toBe("zombie");
  expect((await world.mailTo("lead")).filter(({ type }) => type === "worker_died")).toEqual([]);
});
