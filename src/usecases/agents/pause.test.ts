import { describe, expect, test } from "bun:test";
import { type MailWorld, mailWorld } from "../../../testkit/mail-world.ts";
import { agentCaller } from "../../../testkit/use-case.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import { sendMail } from "../mail/send.ts";
import { pauseAgent, resumeAgent } from "./pause.ts";
import { requestStop } from "./stop.ts";

const seated = { worktreePath: "/w" };
const alone = { name: "ann", tree: false };

async function team(facts: Partial<Agent> = {}): Promise<MailWorld> {
  const world = await mailWorld();
  await world.seat("lead", { capability: "lead", ...seated });
  await world.seat("ann", { parentName: "lead", ...seated, ...facts });
  await world.seat("bob", { parentName: "lead", ...seated });
  return world;
}

const ready = (world: MailWorld): Promise<readonly string[]> =>
  world.store.read(async (tx) => (await tx.turns.ready(world.clock.now, 9)).map((turn) => turn.agentName));

const pausesOf = (world: MailWorld, name: string): Promise<readonly string[]> =>
  world.store.read(async (tx) => (await tx.waits.of(name)).filter((w) => w.kind === "operator").map((w) => w.ref));

const mail = { to: "ann", subject: "s", body: "b", type: "question" };

describe("a paused agent", () => {
  test("gets mail but no turn until it is resumed", async () => {
    await using world = await team();
    expect(await world.must(pauseAgent, alone)).toEqual({ paused: ["ann"], alreadyPaused: [], running: [] });
    await world.must(sendMail, mail);
    expect(await ready(world)).toEqual([]);
    expect(await world.must(resumeAgent, alone)).toMatchObject({ resumed: ["ann"], waiting: [], queued: ["ann"] });
    expect(await ready(world)).toEqual(["ann"]);
  });

  test("that was paused before stays paused once", async () => {
    await using world = await team();
    await world.must(pauseAgent, alone);
    expect(await world.must(pauseAgent, alone)).toMatchObject({ paused: [], alreadyPaused: ["ann"] });
    expect(await pausesOf(world, "ann")).toEqual(["operator"]);
  });

  test("finishes the turn that is running", async () => {
    await using world = await team();
    await world.beginTurn("ann");
    expect(await world.must(pauseAgent, alone)).toMatchObject({ running: ["ann"] });
    expect(await world.must(resumeAgent, alone)).toMatchObject({ resumed: ["ann"], queued: [] });
  });

  test("gets a turn for waking mail whose own turn was cancelled meanwhile", async () => {
    await using world = await team();
    await world.must(pauseAgent, alone);
    await world.must(sendMail, mail);
    await world.store.transaction((tx) => tx.turns.cancelQueued("agent-ann", world.clock.now));
    await world.must(resumeAgent, alone);
    expect(await ready(world)).toEqual(["ann"]);
  });

  test("gets a turn, with the reason, when the pause was all it waited for", async () => {
    await using world = await team();
    await world.must(pauseAgent, alone);
    expect(await world.must(resumeAgent, alone)).toMatchObject({ queued: ["ann"] });
    expect(await world.store.read((tx) => tx.turns.queuedFor("agent-ann"))).toMatchObject({
      trigger: "nudge",
      reason: "operator lifted the pause",
    });
  });

  test("is left to wait for what it waited for besides", async () => {
    await using world = await team();
    await world.store.transaction((tx) =>
      tx.waits.add({ agentName: "ann", kind: "reply", ref: "m1", since: 0, deadline: null }),
    );
    await world.must(pauseAgent, alone);
    expect(await world.must(resumeAgent, alone)).toMatchObject({ resumed: ["ann"], queued: [] });
  });

  test("can be stopped", async () => {
    await using world = await team();
    await world.must(pauseAgent, alone);
    await world.must(requestStop, alone);
    expect(await world.store.read((tx) => tx.agents.byName("ann"))).toMatchObject({ state: "completed" });
  });
});

test("a tree is paused and resumed together", async () => {
  await using world = await team();
  const tree = { name: "lead", tree: true };
  expect((await world.must(pauseAgent, tree)).paused).toEqual(["lead", "ann", "bob"]);
  expect((await world.must(resumeAgent, tree)).resumed).toEqual(["lead", "ann", "bob"]);
  expect(await pausesOf(world, "bob")).toEqual([]);
});

describe("an agent that is not paused", () => {
  test("is not changed by resuming it", async () => {
    await using world = await team();
    const unchanged = { resumed: [], unchanged: ["ann"], queued: [] };
    expect(await world.must(resumeAgent, alone)).toMatchObject(unchanged);
    expect(await world.queuedTurns()).toEqual([]);
  });

  test("is explained: what it waits for, until when, and the command that ends it", async () => {
    await using world = await team();
    const waiting = async () => (await world.must(resumeAgent, alone)).waiting[0];
    expect(await waiting()).toMatchObject({ name: "ann", reason: "it waits for mail", next: "ov nudge ann" });
    await world.store.transaction((tx) =>
      tx.waits.add({ agentName: "ann", kind: "reply", ref: "m1", since: 0, deadline: null }),
    );
    expect(await waiting()).toMatchObject({ reason: "it waits for an answer to m1", next: null });
    const retry = {
      id: "t1",
      agentId: "agent-ann",
      agentName: "ann",
      runId: "run-1",
      trigger: "retry",
      reason: "it failed",
    } as const;
    const until = world.clock.now + 60_000;
    await world.store.transaction((tx) =>
      tx.turns.queue({ ...retry, attempt: 2, notBefore: until, now: world.clock.now }),
    );
    expect(await waiting()).toMatchObject({ until, next: "ov nudge ann" });
    await world.store.transaction((tx) =>
      tx.waits.add({ agentName: "ann", kind: "budget", ref: "run:run-1:turns", since: 0, deadline: null }),
    );
    expect(await waiting()).toMatchObject({ until: null, next: "ov budget raise run run-1 turns <amount>" });
  });
});

test("an agent that has ended can be neither paused nor resumed", async () => {
  await using world = await team({ state: "completed", outcome: "done" });
  expect(await world.call(pauseAgent, alone)).toMatchObject({ ok: false, refusal: { kind: "invalid" } });
  const next = expect.stringContaining("ov recover ann");
  expect(await world.call(resumeAgent, alone)).toMatchObject({
    ok: false,
    refusal: { kind: "invalid", problem: next },
  });
});

describe("rights", () => {
  const lead = agentCaller("lead", "lead");

  test("a lead pauses its children, a builder nobody", async () => {
    await using world = await team();
    await world.must(pauseAgent, alone, lead);
    expect(await pausesOf(world, "ann")).toEqual(["lead"]);
    expect(
      await world.call(pauseAgent, { name: "bob", tree: false }, { caller: agentCaller("ann", "builder") }),
    ).toEqual(expect.objectContaining({ ok: false, refusal: expect.objectContaining({ kind: "not-allowed" }) }));
  });

  test("a lead cannot lift a person's pause, a person lifts all of them", async () => {
    await using world = await team();
    await world.must(pauseAgent, alone);
    expect(await world.call(resumeAgent, alone, { caller: lead })).toMatchObject({
      ok: false,
      refusal: { kind: "not-allowed", why: "it was paused by operator" },
    });
    await world.must(pauseAgent, alone, lead);
    expect(await world.must(resumeAgent, alone, lead)).toMatchObject({ resumed: [], unchanged: ["ann"] });
    expect(await pausesOf(world, "ann")).toEqual(["operator"]);
    await world.must(pauseAgent, alone, lead);
    expect(await world.must(resumeAgent, alone)).toMatchObject({ resumed: ["ann"] });
    expect(await pausesOf(world, "ann")).toEqual([]);
  });
});
