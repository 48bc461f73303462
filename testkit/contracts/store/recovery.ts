import { expect } from "bun:test";
import type { Check } from "./database.ts";
import { anAgent, aProcess, noon, seed } from "./rows.ts";

export function recoveryPromises(check: Check): void {
  check("what a worktree held is stored with its agent", async ({ store }) => {
    const agent = anAgent("b1");
    await seed(store, agent);
    const facts = { headCommit: "c0ffee", ahead: 2, dirty: true };
    await store.transaction((tx) => tx.agents.inspected(agent.id, facts));
    expect(await store.read((tx) => tx.agents.get(agent.id))).toMatchObject(facts);
  });

  check("a successor is remembered by name", async ({ store }) => {
    const agent = anAgent("b1", { state: "zombie" });
    await seed(store, agent);
    await store.transaction((tx) => tx.agents.setSuccessor(agent.id, "b2"));
    expect((await store.read((tx) => tx.agents.byName("b1")))?.successorName).toBe("b2");
  });

  check("those asked to stop are listed while they live", async ({ store }) => {
    const [live, ended] = [anAgent("b1"), anAgent("b2", { state: "completed" })];
    await seed(store, live, ended);
    await store.transaction(async (tx) => {
      await tx.agents.requestStop(live.id, "operator");
      await tx.agents.requestStop(ended.id, "operator");
    });
    expect((await store.read((tx) => tx.agents.stopping())).map(({ name }) => name)).toEqual(["b1"]);
  });

  check("a released agent waits to be cleaned, once", async ({ store }) => {
    const agent = anAgent("b1", { state: "completed" });
    await seed(store, agent);
    const names = async () => (await store.read((tx) => tx.agents.toClean())).map(({ name }) => name);
    expect(await names()).toEqual([]);
    expect(await store.transaction((tx) => tx.agents.release(agent.id, noon))).toBe(true);
    expect(await store.transaction((tx) => tx.agents.release(agent.id, noon))).toBe(false);
    expect(await names()).toEqual(["b1"]);
    await store.transaction((tx) => tx.agents.cleaned(agent.id, noon));
    expect(await names()).toEqual([]);
    const seat = { worktreePath: "/w", worktreeIdentity: null, branch: "b", baseRef: "main", baseCommit: "c0" };
    await store.transaction((tx) => tx.agents.seated(agent.id, seat));
    expect((await store.read((tx) => tx.agents.toClean())).map(({ id }) => id)).toEqual([agent.id]);
  });

  check("submitted agents are found by age, and captured variables by their users", async ({ store }) => {
    const old = anAgent("b1", { state: "completed", endedAt: noon, envFile: "/env/1" });
    await seed(store, old, anAgent("b2", { state: "completed", endedAt: noon + 10 }), anAgent("b3"));
    const names = await store.read((tx) => tx.agents.submittedBefore(noon + 5));
    expect(names.map(({ name }) => name)).toEqual(["b1"]);
    expect(await store.read((tx) => tx.agents.usesEnvironment("/env/1", "b9"))).toBe(true);
    expect(await store.read((tx) => tx.agents.list({ envFile: "/env/1" }))).toMatchObject([{ name: "b1" }]);
    expect(await store.read((tx) => tx.agents.list({ envFile: "/env/2" }))).toEqual([]);
    expect(await store.read((tx) => tx.agents.usesEnvironment("/env/1", "b1"))).toBe(false);
    await store.transaction((tx) => tx.agents.cleaned(old.id, noon));
    expect(await store.read((tx) => tx.agents.usesEnvironment("/env/1", "b9"))).toBe(false);
  });

  check("processes are found by any of several pids, ended ones are not", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.processes.insert(aProcess("p1", { pid: 11 }));
      await tx.processes.insert(aProcess("p2", { pid: 12 }));
      await tx.processes.end("p2", "exited", noon);
    });
    const found = await store.read((tx) => tx.processes.withPids([11, 12, 13]));
    expect(found.map(({ id }) => id)).toEqual(["p1"]);
    expect(await store.read((tx) => tx.processes.withPids([]))).toEqual([]);
  });

  check("a name has one checkpoint, the latest; handoffs add up", async ({ store }) => {
    const checkpoint = {
      agentName: "b1",
      generation: 1,
      taskId: "T1",
      turnId: "t1",
      summary: "half done",
      files: ["a.ts"],
      branch: "overstory/b1/T1",
      pending: "",
      updatedAt: noon,
    };
    const handoff = {
      agentName: "b1",
      fromGeneration: 1,
      toGeneration: 2,
      reason: "reopened",
      checkpoint: "{}",
      createdAt: noon,
    } as const;
    await store.transaction(async (tx) => {
      expect(await tx.recovery.checkpoint("b1")).toBeUndefined();
      await tx.recovery.putCheckpoint(checkpoint);
      await tx.recovery.putCheckpoint({ ...checkpoint, summary: "done" });
      await tx.recovery.addHandoff(handoff);
      await tx.recovery.addHandoff({ ...handoff, fromGeneration: 2, toGeneration: 3 });
    });
    expect(await store.read((tx) => tx.recovery.checkpoint("b1"))).toEqual({ ...checkpoint, summary: "done" });
    expect((await store.read((tx) => tx.recovery.handoffs("b1"))).map(({ toGeneration }) => toGeneration)).toEqual([
      2, 3,
    ]);
  });

  check("the next deadline of a kind of wait is the earliest", async ({ store }) => {
    const wait = { agentName: "b1", kind: "budget", ref: "day:1", since: noon, deadline: noon + 9 } as const;
    await store.transaction(async (tx) => {
      expect(await tx.waits.nextDeadline("budget")).toBeUndefined();
      await tx.waits.add(wait);
      await tx.waits.add({ ...wait, agentName: "b2", deadline: noon + 5 });
      await tx.waits.add({ ...wait, kind: "operator", ref: "x", deadline: noon + 1 });
    });
    expect(await store.read((tx) => tx.waits.nextDeadline("budget"))).toBe(noon + 5);
  });

  check("a name's identity is kept over its incarnations", async ({ store }) => {
    const identity = {
      agentName: "b1",
      capability: "builder",
      createdAt: noon,
      completed: 1,
      recentTasks: [{ taskId: "T1", summary: "did it", completedAt: noon }],
    };
    await store.transaction(async (tx) => {
      expect(await tx.recovery.identity("b1")).toBeUndefined();
      await tx.recovery.putIdentity(identity);
      await tx.recovery.putIdentity({ ...identity, completed: 2 });
    });
    expect(await store.read((tx) => tx.recovery.identity("b1"))).toEqual({ ...identity, completed: 2 });
  });
}
