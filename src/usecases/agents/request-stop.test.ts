import { describe, expect, test } from "bun:test";
import { activeRun, agentCaller, storedAgent, type UseCaseWorld, useCaseWorld } from "../../../testkit/use-case.ts";
import type { Agent } from "../../domain/agent/agent.ts";
import type { ProcessRecord } from "../../domain/process/process.ts";
import { checkStop, requestStop } from "./stop.ts";

/** A lead with two builders, one of which has a helper of its own; next to it somebody else's builder. */
async function withTeam(world: UseCaseWorld, facts: Readonly<Record<string, Partial<Agent>>> = {}): Promise<void> {
  await world.store.transaction(async (tx) => {
    await tx.runs.insert(activeRun("run-1", 0));
    const seat = (name: string, own: Partial<Agent>) =>
      tx.agents.reserve(storedAgent(name, { ...own, ...facts[name] }));
    await seat("lead", { capability: "lead" });
    await seat("ann", { parentName: "lead", depth: 2 });
    await seat("bob", { parentName: "lead", depth: 2 });
    await seat("cid", { parentName: "ann", depth: 3 });
    await seat("eve", {});
    for (const [parent, child] of [
      ["lead", "ann"],
      ["lead", "bob"],
      ["ann", "cid"],
    ] as const) {
      await tx.waits.add({ agentName: parent, kind: "child", ref: child, since: 0, deadline: null });
    }
  });
}

/** Gives the agent a running turn with a supervisor and a process. */
async function beginTurn(world: UseCaseWorld, name: string): Promise<void> {
  await world.store.transaction(async (tx) => {
    const turn = { id: `turn-${name}`, agentId: `agent-${name}`, agentName: name, runId: "run-1" };
    await tx.turns.queue({ ...turn, trigger: "mail", attempt: 1, notBefore: 0, now: 0 });
    await tx.turns.start(turn.id, { fence: 1, logDir: "", resumeRequested: null, now: 0 });
    const record = (role: ProcessRecord["role"], pid: number): ProcessRecord => ({
      id: `${role}-${name}`,
      role,
      agentId: `agent-${name}`,
      turnId: turn.id,
      pid,
      startToken: "1",
      bootId: "boot",
      startedAt: 0,
      endedAt: null,
      endReason: null,
    });
    await tx.processes.insert(record("supervisor", 100));
    await tx.processes.insert(record("agent", 101));
  });
}

const queueTurn = (world: UseCaseWorld, name: string): Promise<void> =>
  world.store.transaction((tx) =>
    tx.turns.queue({
      id: `next-${name}`,
      agentId: `agent-${name}`,
      agentName: name,
      runId: "run-1",
      trigger: "mail",
      attempt: 1,
      notBefore: 0,
      now: 0,
    }),
  );

const agentOf = (world: UseCaseWorld, name: string): Promise<Agent | undefined> =>
  world.store.read((tx) => tx.agents.byName(name));

/** Notices about agents that were stopped. A stop on purpose is never told as a death. */
const stopsTold = async (world: UseCaseWorld, to: string) => {
  expect(await world.store.read((tx) => tx.messages.list({ to, type: "worker_died" }))).toEqual([]);
  const mail = await world.store.read((tx) => tx.messages.list({ to, type: "status" }));
  return mail.filter(({ subject }) => subject.startsWith("[ENGINE] stopped: "));
};

describe("an idle agent", () => {
  test("has ended with the transaction, its queued turn is gone and its parent told once", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    await queueTurn(world, "ann");
    const { agents, liveChildren } = await world.must(requestStop, { name: "ann", tree: false });
    expect(agents).toMatchObject([{ agentName: "ann", ended: true, alreadyEnded: false, processes: [] }]);
    expect(liveChildren).toEqual(["cid"]);
    expect(await agentOf(world, "ann")).toMatchObject({ state: "completed", outcome: "stopped" });
    expect(await world.store.read((tx) => tx.turns.queuedFor("agent-ann"))).toBeUndefined();
    const [told, ...more] = await stopsTold(world, "lead");
    expect(more).toEqual([]);
    expect(JSON.parse(told?.payload ?? "")).toMatchObject({
      terminatedBy: "operator",
      reason: "stopped by operator",
      outcome: "stopped",
    });
    expect(await world.store.read((tx) => tx.waits.of("lead"))).toMatchObject([{ kind: "child", ref: "bob" }]);
  });

  test("may be stopped again and again", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    await world.must(requestStop, { name: "bob", tree: false });
    const before = await agentOf(world, "bob");
    const again = await world.must(requestStop, { name: "bob", tree: true });
    expect(again.agents).toMatchObject([{ agentName: "bob", ended: true, alreadyEnded: true, wasCompleted: true }]);
    expect(await agentOf(world, "bob")).toEqual(before);
    expect(await stopsTold(world, "lead")).toHaveLength(1);
  });

  test("is stopped before it has a worktree", async () => {
    await using world = useCaseWorld();
    await withTeam(world, { eve: { state: "booting" } });
    await world.must(requestStop, { name: "eve", tree: false });
    expect(await world.store.read((tx) => tx.agents.unseated())).toEqual([]);
  });

  test("forgets that it was paused", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    await world.store.transaction((tx) =>
      tx.waits.add({ agentName: "eve", kind: "operator", ref: "operator", since: 0, deadline: null }),
    );
    await world.must(requestStop, { name: "eve", tree: false });
    expect(await world.store.read((tx) => tx.waits.of("eve"))).toEqual([]);
  });
});

describe("an agent in a turn", () => {
  test("is asked to stop, cannot be started again, and its processes are named", async () => {
    await using world = useCaseWorld();
    await withTeam(world, { bob: { state: "in_turn", worktreePath: "/w" } });
    await beginTurn(world, "bob");
    await queueTurn(world, "bob");
    const { agents } = await world.must(requestStop, { name: "bob", tree: false });
    expect(agents[0]).toMatchObject({ ended: false, alreadyEnded: false });
    expect(agents[0]?.processes).toMatchObject([
      { role: "supervisor", pid: 100, turnId: "turn-bob" },
      { role: "agent", pid: 101, startToken: "1", bootId: "boot" },
    ]);
    expect(await agentOf(world, "bob")).toMatchObject({ state: "in_turn", stopRequestedBy: "operator" });
    expect(await world.store.read((tx) => tx.turns.ready(world.now(), 9))).toEqual([]);
    expect(await stopsTold(world, "lead")).toEqual([]);
    const again = await world.must(requestStop, { name: "bob", tree: false });
    expect(again.agents).toEqual(agents);
  });

  test("is open until its turn is settled", async () => {
    await using world = useCaseWorld();
    await withTeam(world, { bob: { state: "in_turn" } });
    await beginTurn(world, "bob");
    await world.must(requestStop, { name: "bob", tree: false });
    const agentIds = ["agent-bob", "agent-eve", "agent-nobody"];
    expect(await world.must(checkStop, { agentIds })).toEqual({ open: ["agent-bob", "agent-eve"] });
    await world.must(requestStop, { name: "eve", tree: false });
    expect(await world.must(checkStop, { agentIds })).toEqual({ open: ["agent-bob"] });
  });
});

describe("a zombie", () => {
  test("becomes completed by a person's word, keeps its outcome, and nobody is told again", async () => {
    await using world = useCaseWorld();
    await withTeam(world, { bob: { state: "zombie", outcome: "crashed", endedAt: 5 } });
    const { agents } = await world.must(requestStop, { name: "bob", tree: false });
    expect(agents).toMatchObject([{ wasZombie: true, alreadyEnded: false, ended: true }]);
    expect(await agentOf(world, "bob")).toMatchObject({ state: "completed", outcome: "crashed", endedAt: 5 });
    expect(await stopsTold(world, "lead")).toEqual([]);
  });

  test("stays one when its lead says the same", async () => {
    await using world = useCaseWorld();
    await withTeam(world, { bob: { state: "zombie", outcome: "crashed" } });
    const { agents } = await world.must(requestStop, { name: "bob", tree: false }, agentCaller("lead", "lead"));
    expect(agents).toMatchObject([{ wasZombie: true, alreadyEnded: true }]);
    expect(await agentOf(world, "bob")).toMatchObject({ state: "zombie" });
  });
});

describe("a whole tree", () => {
  test("ends from below, and no word of a child starts its parent again", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    const { agents, liveChildren } = await world.must(requestStop, { name: "lead", tree: true });
    expect(agents.map((agent) => agent.agentName)).toEqual(["cid", "ann", "bob", "lead"]);
    expect(liveChildren).toEqual([]);
    for (const name of ["cid", "ann", "bob", "lead"]) {
      expect(await agentOf(world, name)).toMatchObject({ state: "completed", outcome: "stopped" });
      expect(await world.store.read((tx) => tx.turns.queuedFor(`agent-${name}`))).toBeUndefined();
    }
    expect(await stopsTold(world, "operator")).toEqual([]);
    expect(await agentOf(world, "eve")).toMatchObject({ state: "between_turns" });
  });

  test("includes the children of an ended agent", async () => {
    await using world = useCaseWorld();
    await withTeam(world, { ann: { state: "completed", outcome: "done" } });
    const { agents } = await world.must(requestStop, { name: "lead", tree: true });
    expect(agents.map((agent) => agent.agentName)).toEqual(["cid", "bob", "lead"]);
    expect(await agentOf(world, "ann")).toMatchObject({ outcome: "done" });
  });
});

describe("rights", () => {
  test("a lead stops those below it, and nobody else", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    const lead = agentCaller("lead", "lead");
    await world.must(requestStop, { name: "cid", tree: false }, lead);
    expect(await stopsTold(world, "ann")).toMatchObject([{ fromAgent: "cid" }]);
    for (const name of ["eve", "lead"]) {
      expect(await world.call(requestStop, { name, tree: false }, lead)).toMatchObject({
        ok: false,
        refusal: { kind: "not-allowed", caller: "lead", action: `stop ${name}` },
      });
    }
    expect(await agentOf(world, "eve")).toMatchObject({ state: "between_turns", stopRequestedBy: null });
  });

  test("a worker stops nobody, not even a child", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    expect(await world.call(requestStop, { name: "cid", tree: false }, agentCaller("ann", "builder"))).toMatchObject({
      ok: false,
      refusal: { kind: "not-allowed" },
    });
  });

  test("an unknown name is refused with the nearest one", async () => {
    await using world = useCaseWorld();
    await withTeam(world);
    expect(await world.call(requestStop, { name: "bop", tree: false })).toMatchObject({
      ok: false,
      refusal: { kind: "not-found", noun: "agent", nearest: "bob" },
    });
    expect(await world.call(requestStop, { name: "  ", tree: false })).toMatchObject({
      ok: false,
      refusal: { kind: "invalid", field: "agent" },
    });
  });
});
