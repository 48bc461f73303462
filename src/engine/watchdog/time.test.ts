import { expect, test } from "bun:test";
import { minute, watchdogWorld } from "../../../testkit/watchdog-world.ts";
import { Failure } from "../../domain/failure.ts";
import type { WatchdogPorts } from "./memory.ts";
import { nextWatchdogAt, watchdogTick } from "./tick.ts";

const hour = 60 * minute;

test("after the host slept nobody is given up; one that stays silent is, one stale window later", async () => {
  await using world = await watchdogWorld();
  await world.seat("dead", { topology: "attached", state: "working" });
  await world.seat("alive", { topology: "attached", state: "working" });
  await world.pass(minute);
  world.clock.jump(hour);
  await world.tick();
  await world.pass(5 * minute - 1);
  expect((await world.agent("dead")).state).toBe("working");
  expect((await world.agent("alive")).state).toBe("working");
  await world.act("alive");
  await world.pass(1);
  await world.pass(minute);
  expect((await world.agent("dead")).state).toBe("zombie");
  expect((await world.agent("alive")).state).toBe("working");
});

test("a look that comes far too late follows a sleep, even if every clock went on", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1");
  await world.next();
  world.clock.advance(hour);
  await world.tick();
  expect((await world.agent("b1")).state).toBe("between_turns");
  await world.pass(5 * minute + 1);
  expect((await world.agent("b1")).state).toBe("zombie");
});

test("an agent that was stalled before the sleep is not ended by it", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1");
  await world.pass(5.5 * minute);
  world.clock.jump(hour);
  await world.pass(4.9 * minute);
  expect(await world.agent("b1")).toMatchObject({ state: "stalled", escalationLevel: 0 });
});

test("a clock that is set back changes nothing", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1");
  await world.pass(4 * minute);
  world.clock.jump(-hour);
  await world.pass(minute);
  expect((await world.agent("b1")).state).toBe("between_turns");
  await world.pass(minute / 2);
  expect(await world.agent("b1")).toMatchObject({ state: "stalled", escalationLevel: 0 });
});

test("a new engine has seen nothing yet: it gives everybody a stale window, however old the store says they are", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1", { lastActivityAt: world.clock.now() - 24 * hour });
  await world.pass(4.9 * minute);
  expect((await world.agent("b1")).state).toBe("between_turns");
  const engine = world.restarted();
  await engine.pass(4.9 * minute);
  expect((await engine.agent("b1")).state).toBe("between_turns");
  await engine.pass(minute);
  expect(await engine.agent("b1")).toMatchObject({ state: "stalled", escalationLevel: 0 });
});

test("ticks never overlap", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1", { topology: "attached", state: "working" });
  await world.next();
  world.clock.advance(5.1 * minute);
  await Promise.all([world.tick(), world.tick(), world.tick()]);
  expect(await world.events("escalation")).toHaveLength(1);
});

test("while the engine cannot write, no agent grows old: agents that are alive when it can again are unharmed", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1", { state: "in_turn" });
  const turn = await world.beginTurn("b1");
  const full = new Failure({ kind: "disk-full", path: "/p/s.db" });
  const ports: WatchdogPorts = { ...world.ports, store: { ...world.store, transaction: () => Promise.reject(full) } };
  let refused = 0;
  for (let waited = 0; waited < 30 * minute; ) {
    const due = await nextWatchdogAt(ports, world.memory);
    const wait = due === undefined ? minute : Math.max(due - world.clock.now(), 1);
    world.clock.advance(wait);
    waited += wait;
    // As the engine's loop does with any failure.
    await watchdogTick(ports, world.memory).catch(() => {
      refused++;
      world.memory.forgive(world.clock);
    });
  }
  expect(refused).toBeGreaterThan(0);
  await world.pass(minute);
  await world.beat(turn);
  await world.pass(4 * minute);
  expect(await world.agent("b1")).toMatchObject({ state: "in_turn", escalationLevel: 0, stopRequestedBy: null });
  expect(await world.events("escalation")).toEqual([]);
});
