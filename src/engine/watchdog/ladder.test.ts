import { expect, test } from "bun:test";
import { minute, type WatchdogWorld, watchdogWorld } from "../../../testkit/watchdog-world.ts";
import { post } from "../../usecases/mail/post.ts";

/** What the watchdog did, in order: event type, and level where there is one. */
async function deeds(world: WatchdogWorld): Promise<string[]> {
  const events = (await world.events()).filter(({ source }) => source === "watchdog");
  return events.map(({ type, data }) => {
    const { escalationLevel, action } = JSON.parse(data ?? "{}");
    return [type, escalationLevel, action].filter((part) => part !== undefined).join(" ");
  });
}

const deaths = async (world: WatchdogWorld, name: string) =>
  (await world.mailTo(name)).filter(({ type }) => type === "worker_died");

const attached = { topology: "attached", state: "working", parentName: "lead" } as const;

test("a silent agent climbs with one action per level, dies, and its parent hears it once", async () => {
  await using world = await watchdogWorld();
  await world.seat("lead", { capability: "lead" });
  await world.seat("a1", attached);
  await world.pass(5 * minute - 1);
  expect(await deeds(world)).toEqual([]);
  await world.act("lead");
  await world.pass(2 * minute);
  expect(await deeds(world)).toEqual(["escalation 0 warn", "nudge 1"]);
  expect(await world.agent("a1")).toMatchObject({ state: "stalled", escalationLevel: 1 });
  await world.act("lead");
  await world.pass(4 * minute);
  expect(await deeds(world)).toEqual(["escalation 0 warn", "nudge 1", "triage 2", "escalation 3 terminate"]);
  expect(await world.agent("a1")).toMatchObject({ state: "zombie", outcome: "stalled", stopRequestedBy: "watchdog" });
  expect((await world.mailTo("a1")).map(({ priority }) => priority)).toEqual(["urgent"]);
  const [notice, ...more] = await deaths(world, "lead");
  expect(more).toEqual([]);
  expect(JSON.parse(notice?.payload ?? "")).toMatchObject({
    terminatedBy: "tier0",
    outcome: "stalled",
    agentName: "a1",
  });
  await world.act("lead");
  await world.pass(4 * minute);
  expect(await deaths(world, "lead")).toHaveLength(1);
});

test("watchdog events, operator mail and mail in the agent's borrowed name are not its own activity", async () => {
  await using world = await watchdogWorld();
  const agent = await world.seat("a1", attached);
  const noise = (from: string) =>
    world.store.transaction(async (tx) => {
      const now = world.clock.now();
      const event = { agentName: "a1", agentId: agent.id, type: "note", createdAt: now } as const;
      await tx.events.append([
        { ...event, source: "watchdog" },
        { ...event, source: "operator" },
      ]);
      const draft = { from, fromAgentId: null, runId: "run-1", verified: true, subject: "s", body: "b" } as const;
      const to = { address: "operator", recipients: [{ name: "operator", wake: false }] };
      await post(tx, { ids: world.ports.ids, now }, { ...draft, ...to, type: "status", priority: "normal" });
    });
  for (let i = 0; i < 9; i++) {
    await world.pass(minute);
    await noise(i % 2 === 0 ? "a1" : "operator");
  }
  expect((await world.agent("a1")).state).toBe("zombie");
});

test("the agent's own mail is a sign of life", async () => {
  await using world = await watchdogWorld();
  const agent = await world.seat("a1", attached);
  for (let i = 0; i < 9; i++) {
    await world.pass(minute);
    await world.store.transaction((tx) =>
      post(
        tx,
        { ids: world.ports.ids, now: world.clock.now() },
        {
          from: "a1",
          fromAgentId: agent.id,
          runId: "run-1",
          verified: true,
          address: "operator",
          recipients: [{ name: "operator", wake: false }],
          subject: `still here ${i}`,
          body: "b",
          type: "status",
          priority: "normal",
        },
      ),
    );
  }
  expect(await deeds(world)).toEqual([]);
  expect((await world.agent("a1")).state).toBe("working");
});

test("an agent that gives a sign returns to its substate, audited, and starts again at the bottom of the ladder", async () => {
  await using world = await watchdogWorld();
  await world.seat("a1", attached);
  await world.seat("b1", { parentName: "operator" });
  await world.pass(5.5 * minute);
  expect(await world.agent("a1")).toMatchObject({ state: "stalled", escalationLevel: 0 });
  expect(await world.agent("b1")).toMatchObject({ state: "stalled", escalationLevel: 0 });
  await world.act("a1");
  await world.act("b1");
  await world.pass(minute);
  expect(await world.agent("a1")).toMatchObject({ state: "working", escalationLevel: 0, stalledSince: null });
  expect(await world.agent("b1")).toMatchObject({ state: "between_turns", escalationLevel: 0, stalledSince: null });
  expect(await world.events("recovered")).toHaveLength(2);
  await world.pass(6 * minute);
  expect(await world.events("escalation")).toHaveLength(4);
});

test("a nudged per-turn agent gets a turn, and is not held to account while that turn waits", async () => {
  await using world = await watchdogWorld();
  const { id } = await world.seat("b1");
  await world.pass(6 * minute);
  expect(await world.store.read((tx) => tx.turns.queuedFor(id))).toMatchObject({ trigger: "mail" });
  await world.pass(4 * minute);
  expect(await world.agent("b1")).toMatchObject({ state: "stalled", escalationLevel: 1 });
  const turn = await world.beginTurn("b1");
  await world.act("b1");
  await world.beat(turn);
  await world.pass(minute);
  expect(await world.agent("b1")).toMatchObject({ state: "in_turn", escalationLevel: 0 });
});

test("a tick says whether it acted, so that the turn it queued is started at once", async () => {
  await using world = await watchdogWorld();
  const { id } = await world.seat("b1");
  for (let acted = false; !acted; acted = (await world.store.read((tx) => tx.turns.queuedFor(id))) !== undefined) {
    const due = await world.next();
    if (due === undefined) throw new Error("nothing was ever due");
    world.clock.advance(Math.max(due - world.clock.now(), 0));
    expect(await world.tick()).toBe(true);
  }
  await world.next();
  expect(await world.tick()).toBe(false);
});

test("a turn whose supervisor beats is never touched, however quiet it is", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1", { state: "in_turn" });
  const turn = await world.beginTurn("b1");
  for (let i = 0; i < 60; i++) {
    await world.pass(minute / 2);
    await world.beat(turn);
  }
  expect(await world.agent("b1")).toMatchObject({ state: "in_turn", escalationLevel: 0 });
  expect(await deeds(world)).toEqual([]);
});

test("a turn whose supervisor fell silent climbs, and then the engine is asked to stop the agent", async () => {
  await using world = await watchdogWorld();
  await world.seat("b1", { state: "in_turn" });
  await world.beginTurn("b1");
  await world.pass(20 * minute);
  expect(await deeds(world)).toEqual(["escalation 0 warn", "nudge 1", "triage 2", "escalation 3 terminate"]);
  expect(await world.agent("b1")).toMatchObject({ state: "stalled", stopRequestedBy: "watchdog", outcome: null });
  expect(await deaths(world, "operator")).toEqual([]);
});

test("an attached agent with a live process is stopped by the engine, one whose process is gone has ended", async () => {
  await using world = await watchdogWorld();
  const run = async (name: string, pid: number) => {
    const { id: agentId } = await world.seat(name, attached);
    const identity = { pid, startToken: "1", bootId: "b", startedAt: 0, endedAt: null, endReason: null };
    await world.store.transaction((tx) =>
      tx.processes.insert({ id: `p-${name}`, role: "agent", agentId, turnId: null, ...identity }),
    );
    world.alive.add(pid);
  };
  await run("hung", 11);
  await run("crashed", 12);
  await world.pass(minute);
  world.alive.delete(12);
  await world.pass(minute);
  expect(await world.agent("crashed")).toMatchObject({ state: "zombie", outcome: "crashed" });
  await world.pass(10 * minute);
  expect(await world.agent("hung")).toMatchObject({ state: "stalled", stopRequestedBy: "watchdog" });
});
