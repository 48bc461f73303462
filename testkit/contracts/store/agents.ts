import { expect } from "bun:test";
import type { Agent } from "../../../src/domain/agent/agent.ts";
import { transition } from "../../../src/domain/agent/transition.ts";
import type { Check } from "./database.ts";
import { anAgent, aRun, aTurn, noon, seed } from "./rows.ts";
import { rejection } from "./transactions.ts";

export function agentPromises(check: Check): void {
  check("the current run is the newest active one; runs are listed newest first", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("old", { startedAt: noon - 2 }));
      await tx.runs.insert(aRun("new", { startedAt: noon - 1 }));
      await tx.runs.insert(aRun("over", { startedAt: noon, status: "failed" }));
      expect((await tx.runs.current())?.id).toBe("new");
      expect((await tx.runs.list(2)).map((run) => run.id)).toEqual(["over", "new"]);
      await tx.runs.complete("new", "completed", noon + 1);
      expect(await tx.runs.get("new")).toMatchObject({ status: "completed", completedAt: noon + 1 });
      expect((await tx.runs.current())?.id).toBe("old");
      await tx.runs.reopen("new");
      expect(await tx.runs.get("new")).toMatchObject({ status: "active", completedAt: null });
      await tx.runs.complete("new", "completed", noon + 1);
      await tx.runs.complete("old", "failed", noon + 2);
      expect(await tx.runs.current()).toBeUndefined();
    });
  });

  check("where a run's work goes is decided after it has begun", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      await tx.runs.setBranches("r1", { targetBranch: "main", landingBranch: "overstory/integration/r1" });
      const branches = { targetBranch: "main", landingBranch: "overstory/integration/r1" };
      expect(await tx.runs.get("r1")).toMatchObject({ ...branches, startCommit: null });
      await tx.runs.setStart("r1", "c1");
      await tx.runs.setStart("r1", "c2");
      expect(await tx.runs.get("r1")).toMatchObject({ startCommit: "c1" });
    });
  });

  check("an agent comes back exactly as it was reserved", async ({ store }) => {
    const agent = anAgent("b1", {
      model: "large",
      taskId: "T1",
      specPath: "specs/T1.md",
      scope: ["src/a.ts", "src/b c.ts"],
      branch: "overstory/b1/T1",
      baseRef: "main",
      baseCommit: "abc",
      envFile: "run/env/b1",
      state: "zombie",
      outcome: "crashed",
      stopRequestedBy: "operator",
      providerSessionId: "p1",
      reminders: 2,
      endedAt: noon + 1,
      releasedAt: noon + 2,
    });
    await seed(store, agent);
    expect(await store.read((tx) => tx.agents.get(agent.id))).toEqual(agent);
    expect(await store.read((tx) => tx.agents.get("nobody"))).toBeUndefined();
  });

  check("a name has at most one live incarnation, and one per generation", async ({ store }) => {
    await seed(store, anAgent("b1"));
    const reserve = (change: Partial<Agent>): Promise<void> =>
      store.transaction((tx) => tx.agents.reserve(anAgent("b1", change)));
    expect(await rejection(reserve({ generation: 2 }))).toBeInstanceOf(Error);
    expect(await rejection(reserve({ id: "b1-again", state: "completed" }))).toBeInstanceOf(Error);
    await reserve({ generation: 2, state: "completed" });
    expect((await store.read((tx) => tx.agents.list({}))).map((agent) => agent.id)).toEqual(["b1-1", "b1-2"]);
  });

  check("a name means its live incarnation, else its latest", async ({ store }) => {
    await seed(
      store,
      anAgent("b1", { state: "zombie" }),
      anAgent("b1", { generation: 2, state: "completed" }),
      anAgent("b2", { generation: 1 }),
      anAgent("b2", { generation: 2, state: "completed" }),
    );
    await store.read(async (tx) => {
      expect((await tx.agents.byName("b1"))?.id).toBe("b1-2");
      expect((await tx.agents.byName("b2"))?.id).toBe("b2-1");
      expect(await tx.agents.byName("b3")).toBeUndefined();
      expect((await tx.agents.names()).sort()).toEqual(["b1", "b2"]);
    });
  });

  check(
    "agents are found by run, parent, task and life, oldest first, then by the bytes of the name",
    async ({ store }) => {
      await seed(
        store,
        anAgent("b", { parentName: "lead", taskId: "T1" }),
        anAgent("B", { parentName: "lead" }),
        anAgent("a-z", { parentName: "lead", state: "completed" }),
        anAgent("ab", { taskId: "T1", startedAt: noon - 1 }),
      );
      await store.transaction(async (tx) => {
        await tx.runs.insert(aRun("r2"));
        await tx.agents.reserve(anAgent("c", { runId: "r2" }));
      });
      const names = async (filter: Parameters<typeof list>[0]) => (await list(filter)).map((agent) => agent.name);
      const list = (filter: { runId?: string; parentName?: string; taskId?: string; live?: boolean }) =>
        store.read((tx) => tx.agents.list(filter));
      expect(await names({})).toEqual(["ab", "B", "a-z", "b", "c"]);
      expect(await names({ runId: "r1", live: true })).toEqual(["ab", "B", "b"]);
      expect(await names({ parentName: "lead" })).toEqual(["B", "a-z", "b"]);
      expect(await names({ taskId: "T1", live: true })).toEqual(["ab", "b"]);
    },
  );

  check("an agent moves once per version: the second who decided from the same row is told no", async ({ store }) => {
    const agent = anAgent("b1", { state: "booting" });
    await seed(store, agent);
    const request = { to: "in_turn", actor: "supervisor", reason: "first output" } as const;
    const decided = transition(agent, request, noon);
    if (!decided.ok) throw new Error("the rule refused a legal move");
    const move = () => store.transaction((tx) => tx.agents.move(agent, decided.value, request, noon));
    expect([await move(), await move()]).toEqual([true, false]);
    expect(await store.read((tx) => tx.agents.get(agent.id))).toMatchObject({ state: "in_turn", stateVersion: 1 });
  });

  check("an agent without a worktree is unseated until it is seated", async ({ store }) => {
    const waiting = (name: string, startedAt: number): Agent =>
      anAgent(name, { state: "booting", worktreePath: null, startedAt });
    await seed(store, waiting("late", noon + 1), waiting("early", noon), anAgent("seated", { state: "booting" }));
    await store.transaction(async (tx) => {
      expect((await tx.agents.unseated()).map((agent) => agent.name)).toEqual(["early", "late"]);
      const seat = { worktreePath: "/w", worktreeIdentity: "1:2", branch: "b", baseRef: "main", baseCommit: "c0" };
      await tx.agents.seated("early-1", seat);
      expect((await tx.agents.unseated()).map((agent) => agent.name)).toEqual(["late"]);
      expect(await tx.agents.get("early-1")).toMatchObject(seat);
    });
  });

  check("agents are ahead with commits on a branch that is neither released nor taken over", async ({ store }) => {
    const work: Partial<Agent> = { branch: "b", headCommit: "c1", ahead: 1 };
    await seed(
      store,
      anAgent("works", work),
      anAgent("submitted", { ...work, state: "completed", outcome: "done" }),
      anAgent("new", { ...work, ahead: 0 }),
      anAgent("released", { ...work, releasedAt: noon }),
      anAgent("taken", { ...work, successorName: "works" }),
      anAgent("reader", { ...work, worktreeKind: "root" }),
    );
    const names = (await store.read((tx) => tx.agents.ahead())).map(({ name }) => name);
    expect(names.toSorted()).toEqual(["submitted", "works"]);
  });

  check("what is seen of an agent is kept: activity only forward, release only once", async ({ store }) => {
    await seed(store, anAgent("b1"), anAgent("b2"));
    await store.transaction(async (tx) => {
      await tx.agents.sawProviderSession("b1-1", "p0", "2.0");
      await tx.agents.forgetProviderSession("b1-1");
      expect(await tx.agents.get("b1-1")).toMatchObject({ providerSessionId: null });
      await tx.agents.sawProviderSession("b1-1", "p1", "3.0");
      await tx.agents.sawActivity("b1-1", noon + 50);
      await tx.agents.sawActivity("b1-1", noon + 20);
      await tx.agents.setReminders("b1-1", 1);
      await tx.agents.setBase("b1-1", "c0ffee");
      await tx.agents.setArea("b1-1", { scope: ["a.ts"], shares: ["b.md"] });
      await tx.agents.requestStop("b1-1", "operator");
      await tx.agents.release("b1-1", noon + 60);
      await tx.agents.release("b1-1", noon + 70);
      expect(await tx.agents.get("b1-1")).toMatchObject({
        providerSessionId: "p1",
        // The version of the first turn stays: later turns are started for the program that it was.
        cliVersion: "2.0",
        lastActivityAt: noon + 50,
        scope: ["a.ts"],
        shares: ["b.md"],
        reminders: 1,
        baseCommit: "c0ffee",
        stopRequestedBy: "operator",
        releasedAt: noon + 60,
      });
      expect(await tx.agents.get("b2-1")).toEqual(anAgent("b2"));
    });
  });

  check("a level of the watchdog is kept with the moment of the stall, and is taken back", async ({ store }) => {
    await seed(store, anAgent("b1"), anAgent("b2"));
    await store.transaction(async (tx) => {
      await tx.agents.setEscalation("b1-1", 2, noon + 5);
      expect(await tx.agents.get("b1-1")).toMatchObject({ escalationLevel: 2, stalledSince: noon + 5 });
      expect(await tx.agents.get("b2-1")).toMatchObject({ escalationLevel: 0, stalledSince: null });
      await tx.agents.setEscalation("b1-1", 0, null);
      expect(await tx.agents.get("b1-1")).toMatchObject({ escalationLevel: 0, stalledSince: null });
    });
  });

  check(
    "only who could be stuck is watched: nobody that waits, is queued, idles by profession or has ended",
    async ({ store }) => {
      const [queued, running] = [anAgent("queued"), anAgent("running", { state: "in_turn" })];
      await seed(
        store,
        anAgent("idle"),
        anAgent("waiting"),
        anAgent("lead", { capability: "lead" }),
        anAgent("child", { parentName: "lead" }),
        anAgent("former", { capability: "lead" }),
        anAgent("grown", { parentName: "former", state: "completed" }),
        queued,
        running,
        anAgent("unseated", { state: "booting", worktreePath: null }),
        anAgent("coordinator", { capability: "coordinator" }),
        anAgent("desk", { capability: "coordinator", topology: "attached" }),
        anAgent("stopping", { stopRequestedBy: "operator" }),
        anAgent("dead", { state: "zombie" }),
        anAgent("stalled", { state: "stalled", stalledSince: noon, escalationLevel: 1 }),
      );
      await store.transaction(async (tx) => {
        for (const agentName of ["waiting", "stalled"]) {
          await tx.waits.add({ agentName, kind: "reply", ref: "m1", since: noon, deadline: null });
        }
        await tx.turns.queue(aTurn("t1", queued));
        await tx.turns.queue(aTurn("t2", running));
        await tx.turns.start("t2", { fence: 1, logDir: "/l", resumeRequested: null, now: noon });
        const watched = (await tx.agents.watchable()).map((agent) => agent.name);
        expect(watched).toEqual(["child", "desk", "former", "idle", "running", "stalled"]);
      });
    },
  );
}
