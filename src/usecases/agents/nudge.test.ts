import { describe, expect, test } from "bun:test";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { nudgeAgent } from "./nudge.ts";
import { pauseAgent } from "./pause.ts";

const seated = { worktreePath: "/w" };

describe("a nudge", () => {
  test("is urgent mail that queues a turn and returns at once", async () => {
    await using world = await mailWorld();
    await world.seat("ann", seated);
    const reply = await world.must(nudgeAgent, { name: "ann", message: "look at main", force: false });
    expect(reply).toMatchObject({ agentName: "ann", delivered: true, queued: true, reason: null });
    const message = await world.store.read((tx) => tx.messages.get(reply.messageId ?? ""));
    expect(message).toMatchObject({
      subject: "[NUDGE from operator]",
      body: "look at main",
      type: "status",
      priority: "urgent",
    });
    expect(await world.queuedTurns()).toEqual(["ann"]);
  });

  test("without words tells the agent to check its mail", async () => {
    await using world = await mailWorld();
    await world.seat("ann", seated);
    const { messageId } = await world.must(nudgeAgent, { name: "ann", message: " ", force: false });
    expect((await world.store.read((tx) => tx.messages.get(messageId ?? "")))?.body).toContain("ov mail check");
  });

  test("is held back for half a second after another one, for each agent by itself", async () => {
    await using world = await mailWorld();
    await world.seat("ann", seated);
    await world.seat("bob", seated);
    await world.must(nudgeAgent, { name: "ann", force: false });
    world.clock.now += 499;
    const held = await world.must(nudgeAgent, { name: "ann", force: false });
    expect(held).toMatchObject({ delivered: false, queued: false, messageId: null });
    const from = new Date(world.clock.now + 1).toISOString();
    expect(held.reason).toBe(`ann was nudged a moment ago; the next nudge is taken at ${from}`);
    expect(await world.must(nudgeAgent, { name: "bob", force: false })).toMatchObject({ delivered: true });
    expect(await world.must(nudgeAgent, { name: "ann", force: true })).toMatchObject({ delivered: true });
  });

  test("with the same words is sent again half a second later", async () => {
    await using world = await mailWorld();
    await world.seat("ann", seated);
    const first = await world.must(nudgeAgent, { name: "ann", message: "hurry", force: false });
    world.clock.now += 500;
    const second = await world.must(nudgeAgent, { name: "ann", message: "hurry", force: false });
    expect(second.delivered).toBe(true);
    expect(second.messageId).not.toBe(first.messageId);
  });

  test("says what it waits for", async () => {
    await using world = await mailWorld();
    await world.seat("ann", seated);
    await world.seat("bob", seated);
    await world.beginTurn("ann");
    expect((await world.must(nudgeAgent, { name: "ann", force: false })).reason).toContain("a turn is running");
    await world.must(pauseAgent, { name: "bob", tree: false });
    expect((await world.must(nudgeAgent, { name: "bob", force: false })).reason).toContain("operator");
  });

  test("of the operator starts an agent at once that waits for its next try; one of its lead names that time", async () => {
    await using world = await mailWorld();
    const lead = await world.seat("lead", { capability: "lead", ...seated });
    await world.seat("ann", { parentName: "lead", ...seated });
    const ann = await world.store.read((tx) => tx.agents.byName("ann"));
    const about = { agentId: ann?.id ?? "", agentName: "ann", runId: ann?.runId ?? "" };
    const retry = {
      id: "turn-1",
      ...about,
      trigger: "retry",
      reason: "it failed",
      attempt: 2,
      notBefore: world.clock.now + 60_000,
    } as const;
    await world.store.transaction((tx) => tx.turns.queue({ ...retry, now: world.clock.now }));
    await world.store.transaction((tx) =>
      tx.waits.add({ agentName: "ann", kind: "rate_limit", ref: "provider", since: 0, deadline: null }),
    );
    const next = () => world.store.read((tx) => tx.turns.queuedFor(about.agentId));
    // The provider said when: not even the operator's nudge starts it before.
    for (const caller of [lead, undefined]) {
      const held = await world.must(nudgeAgent, { name: "ann", force: true }, caller);
      expect(held.reason).toBe(`its provider takes no requests until ${new Date(retry.notBefore).toISOString()}`);
      expect(await next()).toMatchObject({ notBefore: retry.notBefore });
    }
    await world.store.transaction((tx) => tx.waits.remove("ann", "rate_limit", "provider"));
    const later = await world.must(nudgeAgent, { name: "ann", force: true }, lead);
    expect(later.reason).toEndWith(`until ${new Date(retry.notBefore).toISOString()}`);
    expect(await world.must(nudgeAgent, { name: "ann", force: true })).toMatchObject({ queued: true, reason: null });
    expect(await next()).toMatchObject({ id: "turn-1", attempt: 2, notBefore: 0 });
  });

  test("is on record whether or not it was sent", async () => {
    await using world = await mailWorld();
    await world.seat("ann", seated);
    await world.must(nudgeAgent, { name: "ann", message: "x", force: false });
    await world.must(nudgeAgent, { name: "ann", message: "x", force: false });
    const events = await world.store.read((tx) => tx.events.after(0, 99));
    const nudges = events.filter(({ type }) => type === "custom").map(({ data }) => JSON.parse(data ?? ""));
    expect(nudges).toEqual([
      { type: "nudge", from: "operator", message: "x", delivered: true },
      { type: "nudge", from: "operator", message: "x", delivered: false },
    ]);
  });
});

describe("who nudges", () => {
  test("an agent does it in its own name only", async () => {
    await using world = await mailWorld();
    const lead = await world.seat("lead", { capability: "lead", ...seated });
    await world.seat("ann", { parentName: "lead", ...seated });
    expect(await world.must(nudgeAgent, { name: "ann", force: false }, lead)).toMatchObject({ delivered: true });
    const borrowed = { name: "ann", from: "operator", force: true };
    expect(await world.call(nudgeAgent, borrowed, { caller: lead })).toMatchObject({
      ok: false,
      refusal: { kind: "not-allowed" },
    });
  });

  test("a person may lend another name, and the orchestrator is the person", async () => {
    await using world = await mailWorld();
    await world.seat("ann", seated);
    const { messageId } = await world.must(nudgeAgent, { name: "ann", from: "orchestrator", force: false });
    const message = await world.store.read((tx) => tx.messages.get(messageId ?? ""));
    expect(message).toMatchObject({ fromAgent: "operator", verified: true });
  });
});

describe("whom to nudge", () => {
  test("an agent that ended is refused, with the command that brings it back", async () => {
    await using world = await mailWorld();
    await world.seat("ann", { state: "zombie", outcome: "crashed", taskId: "T1" });
    await world.seat("bob", { state: "completed", outcome: "done", taskId: "T2", capability: "scout" });
    expect(await world.call(nudgeAgent, { name: "ann", force: false })).toMatchObject({
      ok: false,
      refusal: { allowed: ["ov recover ann"], problem: "has ended (crashed)" },
    });
    expect(await world.call(nudgeAgent, { name: "bob", force: false })).toMatchObject({
      ok: false,
      refusal: { allowed: ["ov recover bob"], problem: "has submitted its work" },
    });
  });

  test("an unknown agent is refused with the nearest name; a person can always be reached", async () => {
    await using world = await mailWorld();
    await world.seat("ann", seated);
    expect(await world.call(nudgeAgent, { name: "amn", force: false })).toMatchObject({
      ok: false,
      refusal: { kind: "not-found", nearest: "ann" },
    });
    expect(await world.must(nudgeAgent, { name: "orchestrator", force: false })).toMatchObject({
      agentName: "operator",
      delivered: true,
      queued: false,
    });
  });

  test("is for those who divide work among others", async () => {
    await using world = await mailWorld();
    const lead = await world.seat("lead-1", { ...seated, capability: "lead" });
    const builder = await world.seat("ann", { ...seated, parentName: "lead-1" });
    const refused = await world.call(nudgeAgent, { name: "lead-1", force: false }, { caller: builder });
    expect(refused).toMatchObject({ ok: false, refusal: { kind: "not-allowed", caller: "ann" } });
    expect(await world.must(nudgeAgent, { name: "ann", force: false }, lead)).toMatchObject({ delivered: true });
  });
});
