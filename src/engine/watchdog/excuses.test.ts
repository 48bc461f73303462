import { expect, test } from "bun:test";
import { settledTurn } from "../../../testkit/settled-turn.ts";
import { minute, watchdogWorld } from "../../../testkit/watchdog-world.ts";

test("an unanswered decision exempts; once it is answered the silence counts, from then on", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1");
  await world.pass(minute);
  const ask = { agentName: "b1", kind: "reply", ref: "m1", since: world.clock.now(), deadline: null } as const;
  await world.store.transaction((tx) => tx.waits.add(ask));
  expect(await world.pass(60 * minute)).toBe(0);
  expect((await world.agent("b1")).state).toBe("between_turns");
  await world.store.transaction((tx) => tx.waits.remove("b1", "reply", "m1"));
  await world.pass(5 * minute);
  expect((await world.agent("b1")).state).toBe("between_turns");
  await world.pass(minute);
  expect((await world.agent("b1")).state).toBe("stalled");
});

test("an agent found stalled that then asks is back between its turns", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1");
  await world.pass(5.5 * minute);
  expect((await world.agent("b1")).state).toBe("stalled");
  await world.store.transaction((tx) =>
    tx.waits.add({ agentName: "b1", kind: "reply", ref: "m1", since: world.clock.now(), deadline: null }),
  );
  await world.pass(minute);
  expect(await world.agent("b1")).toMatchObject({ state: "between_turns", stalledSince: null });
});

test("agents that wait cost nothing: no tick, and no moment at which one would be due", async () => {
  await using world = await watchdogWorld();
  await world.seat("lead", { capability: "lead" });
  await world.seat("child", { parentName: "lead" });
  await world.seat("coordinator", { capability: "coordinator" });
  await world.seat("done", { state: "completed", outcome: "done" });
  const parked = await world.seat("parked");
  await world.store.transaction(async (tx) => {
    const since = world.clock.now();
    await tx.waits.add({ agentName: "child", kind: "explicit", ref: "build", since, deadline: null });
    await tx.waits.add({ agentName: "parked", kind: "rate_limit", ref: "provider", since, deadline: null });
    await tx.turns.queue({
      id: "t1",
      agentId: parked.id,
      agentName: "parked",
      runId: "run-1",
      trigger: "retry",
      reason: "it failed",
      attempt: 1,
      notBefore: since + 60 * minute,
      now: since,
    });
  });
  expect(await world.next()).toBeUndefined();
  expect(await world.pass(50 * minute)).toBe(0);
});

test("the next look is when something could change, not every interval", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1");
  expect(await world.next()).toBe(world.clock.now() + 5 * minute + 1);
  await world.pass(2 * minute);
  await world.act("b1");
  expect(await world.next()).toBe(world.clock.now() + 5 * minute + 1);
});

test("a turn that does not start although it could is the engine's problem, reported once", async () => {
  await using world = await watchdogWorld({}, 1);
  const { id: agentId } = await world.seat("b1");
  const queue = (id: string, name: string, owner: string) => ({
    id,
    agentId: owner,
    agentName: name,
    runId: "run-1",
    trigger: "mail" as const,
    attempt: 1,
    notBefore: 0,
    now: world.clock.now(),
  });
  await world.seat("busy", { state: "in_turn" });
  const turn = await world.beginTurn("busy");
  await world.store.transaction((tx) => tx.turns.queue(queue("t1", "b1", agentId)));
  for (let i = 0; i < 20; i++) {
    await world.pass(minute / 2);
    await world.beat(turn);
  }
  expect(await world.events("turn_late")).toEqual([]);
  await world.store.transaction((tx) => tx.turns.end(turn.id, 1, settledTurn(world.clock.now())));
  await world.pass(3 * minute);
  await world.pass(minute);
  expect(await world.events("turn_late")).toMatchObject([{ source: "watchdog", level: "error", agentName: "b1" }]);
  await world.restarted().pass(2 * minute);
  expect(await world.events("turn_late")).toHaveLength(1);
  expect(await world.agent("b1")).toMatchObject({ state: "between_turns", escalationLevel: 0 });
});

test("a seat that stays empty is the engine's problem too", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1", { state: "booting", worktreePath: null });
  await world.pass(30 * minute);
  expect(await world.events("seat_late")).toHaveLength(1);
  expect((await world.agent("b1")).state).toBe("booting");
});
