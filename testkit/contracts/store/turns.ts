import { expect } from "bun:test";
import type { NoPlace, TurnEnding } from "../../../src/ports/store/turns.ts";
import type { Tx } from "../../../src/ports/store.ts";
import type { Check } from "./database.ts";
import { anAgent, aRun, aTurn, noon, seed } from "./rows.ts";
import { rejection } from "./transactions.ts";

const b1 = anAgent("b1");
const b2 = anAgent("b2");
const start = { fence: 1, logDir: "/log", resumeRequested: null, now: noon + 1 };
const ending: TurnEnding = {
  status: "settled",
  clean: true,
  resultText: "done",
  exitCode: 0,
  exitSignal: null,
  terminalMessageSeq: 7,
  error: null,
  failure: null,
  advice: null,
  endedAt: noon + 9,
};

export function turnPromises(check: Check): void {
  check("an empty store has nothing for an engine; a queued turn of any time may be something", async ({ store }) => {
    expect(await store.read((tx) => tx.turns.mayHaveWork())).toBe(false);
    await seed(store, b1);
    const later = Number.MAX_SAFE_INTEGER;
    await store.transaction((tx) => tx.turns.queue(aTurn("t1", b1, { notBefore: later })));
    expect(await store.read((tx) => tx.turns.mayHaveWork())).toBe(true);
  });

  check("a queued turn is new in every respect", async ({ store }) => {
    await seed(store, b1);
    await store.transaction((tx) => tx.turns.queue(aTurn("t1", b1, { trigger: "spawn", attempt: 3 })));
    expect(await store.read((tx) => tx.turns.get("t1"))).toEqual({
      id: "t1",
      agentId: "b1-1",
      agentName: "b1",
      runId: "r1",
      reason: null,
      trigger: "spawn",
      status: "queued",
      attempt: 3,
      notBefore: noon,
      fence: 0,
      resumeRequested: null,
      resumeObserved: null,
      logDir: null,
      outputOffset: 0,
      outputLines: 0,
      clean: null,
      resultText: null,
      exitCode: null,
      exitSignal: null,
      terminalMessageSeq: null,
      error: null,
      failure: null,
      advice: null,
      prompt: null,
      costMicros: null,
      costSource: null,
      priceVersion: null,
      queuedAt: noon,
      startedAt: null,
      endedAt: null,
    });
  });

  check("an agent has one queued turn, due at the earliest time anybody asked for", async ({ store }) => {
    await seed(store, b1, b2);
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1, { notBefore: noon + 50 }));
      await tx.turns.queue(aTurn("t2", b1, { notBefore: noon + 20 }));
      await tx.turns.queue(aTurn("t3", b1, { notBefore: noon + 90 }));
      await tx.turns.queue(aTurn("t4", b2, { notBefore: noon + 70 }));
      expect(await tx.turns.queuedFor(b1.id)).toMatchObject({ id: "t1", notBefore: noon + 20 });
      expect(await tx.turns.queuedFor(b2.id)).toMatchObject({ id: "t4", notBefore: noon + 70 });
      expect(await tx.turns.listFor(b1.id)).toHaveLength(1);
      expect(await tx.turns.queuedFor("nobody")).toBeUndefined();
      await tx.turns.hasten(b1.id);
      expect(await tx.turns.queuedFor(b1.id)).toMatchObject({ id: "t1", notBefore: 0 });
      expect(await tx.turns.queuedFor(b2.id)).toMatchObject({ id: "t4", notBefore: noon + 70 });
    });
  });

  check("an agent has one running turn; the next one may wait beside it", async ({ store }) => {
    await seed(store, b1);
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1));
      await tx.turns.start("t1", start);
      await tx.turns.queue(aTurn("t2", b1));
    });
    expect(await rejection(store.transaction((tx) => tx.turns.start("t2", start)))).toBeInstanceOf(Error);
    await store.read(async (tx) => {
      expect((await tx.turns.running()).map((turn) => turn.id)).toEqual(["t1"]);
      expect(await tx.turns.countRunning()).toBe(1);
      expect(await tx.turns.runningPerRun()).toEqual(new Map([[b1.runId, 1]]));
      expect((await tx.turns.runningFor(b1.id))?.id).toBe("t1");
      expect(await tx.turns.runningFor("nobody")).toBeUndefined();
    });
  });

  check("the newest turns that have begun are found by their agents", async ({ store }) => {
    await seed(store, b1, b2);
    await store.transaction(async (tx) => {
      for (const [n, agent] of [b1, b2, b1, b2, b1].entries()) {
        await tx.turns.queue({ ...aTurn(`t${n}`, agent), now: noon + n });
        await tx.turns.start(`t${n}`, { ...start, now: noon + n });
        await tx.turns.end(`t${n}`, 1, ending);
      }
      await tx.turns.queue(aTurn("t9", b1));
      const ids = async (agents: readonly string[], limit: number) =>
        (await tx.turns.newestOf(agents, limit)).map(({ id }) => id);
      expect(await ids([b1.id, b2.id], 4)).toEqual(["t1", "t2", "t3", "t4"]);
      expect(await ids([b1.id], 2)).toEqual(["t2", "t4"]);
      expect(await ids([], 2)).toEqual([]);
    });
  });

  check(
    "the newest turn of a runtime that met a limit is found, however many turns came after it",
    async ({ store }) => {
      const other = anAgent("other", { runtime: "codex" });
      await seed(store, b1, b2, other);
      await store.transaction(async (tx) => {
        expect(await tx.turns.newestLimited(b1.runtime)).toBeUndefined();
        const ends = [
          { id: "t1", agent: b1, failure: "rate_limit", endedAt: noon + 10 },
          { id: "t2", agent: b2, failure: "rate_limit", endedAt: noon + 20 },
          { id: "t3", agent: other, failure: "rate_limit", endedAt: noon + 30 },
          { id: "t4", agent: b1, failure: "overloaded", endedAt: noon + 40 },
          { id: "t5", agent: b1, failure: null, endedAt: noon + 50 },
        ] as const;
        for (const { id, agent, failure, endedAt } of ends) {
          await tx.turns.queue(aTurn(id, agent));
          await tx.turns.start(id, start);
          await tx.turns.end(id, 1, { ...ending, failure, endedAt });
        }
        expect(await tx.turns.newestLimited(b1.runtime)).toMatchObject({ id: "t2", agentName: "b2" });
        expect(await tx.turns.newestLimited("codex")).toMatchObject({ id: "t3" });
        expect(await tx.turns.newestLimited("gemini")).toBeUndefined();
      });
    },
  );

  check("a turn starts once, with its fence and log", async ({ store }) => {
    await seed(store, b1);
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1));
      const resumed = { fence: 5, logDir: "/logs/t1", resumeRequested: "p1", now: noon + 3 };
      expect(await tx.turns.start("t1", resumed)).toBe(true);
      expect(await tx.turns.start("t1", resumed)).toBe(false);
      expect(await tx.turns.get("t1")).toMatchObject({
        status: "running",
        fence: 5,
        logDir: "/logs/t1",
        resumeRequested: "p1",
        startedAt: noon + 3,
      });
    });
  });

  check(
    "only seated, live, unstopped agents without a running turn are ready, in order of due time",
    async ({ store }) => {
      const booting = anAgent("booting", { state: "booting", worktreePath: null });
      const ended = anAgent("ended", { state: "completed" });
      const stopping = anAgent("stopping", { stopRequestedBy: "operator" });
      const busy = anAgent("busy");
      await seed(store, b1, b2, booting, ended, stopping, busy);
      await store.transaction(async (tx) => {
        await tx.turns.queue(aTurn("running", busy));
        await tx.turns.start("running", start);
        await tx.turns.queue(aTurn("t-b1", b1, { notBefore: noon }));
        await tx.turns.queue(aTurn("t-b2", b2, { notBefore: noon - 5 }));
        for (const agent of [booting, ended, stopping, busy]) await tx.turns.queue(aTurn(`t-${agent.name}`, agent));
        const ready = async (now: number, limit = 10) => (await tx.turns.ready(now, limit)).map((turn) => turn.id);
        expect(await ready(noon)).toEqual(["t-b2", "t-b1"]);
        expect(await ready(noon, 1)).toEqual(["t-b2"]);
        expect(await ready(noon - 1)).toEqual(["t-b2"]);
        expect(await ready(noon - 6)).toEqual([]);
      });
    },
  );

  check("turns for which there is no place are not ready, those of persistent agents are", async ({ store }) => {
    const other = anAgent("other", { runId: "r2" });
    const chief = anAgent("chief", { capability: "coordinator" });
    await store.transaction((tx) => tx.runs.insert(aRun("r2")));
    await seed(store, b1, other, chief);
    await store.transaction(async (tx) => {
      for (const agent of [b1, other, chief]) await tx.turns.queue(aTurn(agent.name, agent));
      const ready = async (noPlace?: NoPlace) =>
        (await tx.turns.ready(noon, 10, noPlace)).map(({ agentName }) => agentName).toSorted();
      expect(await ready()).toEqual(["b1", "chief", "other"]);
      expect(await ready({ inRuns: ["r1"] })).toEqual(["chief", "other"]);
      expect(await ready({ inRuns: ["r1", "r2"] })).toEqual(["chief"]);
      expect(await ready("anywhere")).toEqual(["chief"]);
    });
  });

  check("a takeover raises the fence, and the old supervisor can write no more", async ({ store }) => {
    await seed(store, b1);
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1));
      expect(await tx.turns.takeOver("t1")).toBeUndefined();
      await tx.turns.start("t1", start);
      expect(await tx.turns.progress("t1", 1, 100, 3)).toBe(true);
      expect(await tx.turns.takeOver("t1")).toBe(2);
      expect(await tx.turns.progress("t1", 1, 999, 9)).toBe(false);
      expect(await tx.turns.end("t1", 1, ending)).toBe(false);
      expect(await tx.turns.get("t1")).toMatchObject({ status: "running", outputOffset: 100, outputLines: 3 });
      expect(await tx.turns.end("t1", 2, ending)).toBe(true);
      expect(await tx.turns.end("t1", 2, ending)).toBe(false);
      expect(await tx.turns.progress("t1", 2, 200, 4)).toBe(false);
      expect(await tx.turns.get("t1")).toMatchObject({ ...ending, fence: 2, outputOffset: 100 });
    });
  });

  check("a turn that ended badly keeps how", async ({ store }) => {
    await seed(store, b1);
    const bad = {
      ...ending,
      status: "failed",
      clean: false,
      resultText: null,
      exitCode: null,
      exitSignal: "SIGKILL",
      terminalMessageSeq: null,
      error: "killed",
      failure: "login",
      advice: "log in",
    } as const;
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1));
      await tx.turns.start("t1", start);
      await tx.turns.sawProviderSession("t1", "p9");
      await tx.turns.told("t1", "builder@1");
      await tx.turns.end("t1", 1, bad);
      expect(await tx.turns.get("t1")).toMatchObject({ ...bad, resumeObserved: "p9", prompt: "builder@1" });
    });
  });

  check("cancelling touches queued turns only", async ({ store }) => {
    await seed(store, b1, b2);
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1));
      await tx.turns.start("t1", start);
      await tx.turns.queue(aTurn("t2", b1, { now: noon + 1 }));
      await tx.turns.queue(aTurn("t3", b2));
      expect(await tx.turns.cancelQueued(b1.id, noon + 5)).toBe(1);
      expect(await tx.turns.cancelQueued(b1.id, noon + 6)).toBe(0);
      await tx.turns.cancel("t1", noon + 7);
      await tx.turns.cancel("t3", noon + 8);
      const all = [...(await tx.turns.listFor(b1.id)), ...(await tx.turns.listFor(b2.id))];
      expect(all.map((turn) => [turn.id, turn.status, turn.endedAt])).toEqual([
        ["t1", "running", null],
        ["t2", "cancelled", noon + 5],
        ["t3", "cancelled", noon + 8],
      ]);
    });
  });

  check("work is due for a due turn, a running turn or an unseated agent, and for nothing else", async ({ store }) => {
    await seed(store, b1);
    const due = (now: number) => store.read((tx) => tx.turns.dueWork(now));
    expect(await due(noon)).toBe(false);
    await store.transaction((tx) => tx.turns.queue(aTurn("t1", b1, { notBefore: noon + 5 })));
    expect([await due(noon + 4), await due(noon + 5)]).toEqual([false, true]);
    await store.transaction((tx) => tx.turns.start("t1", start));
    expect(await due(noon)).toBe(true);
    await store.transaction((tx) => tx.turns.end("t1", 1, ending));
    expect(await due(noon + 100)).toBe(false);
    const unseated = anAgent("b3", { state: "booting", worktreePath: null });
    await store.transaction((tx) => tx.agents.reserve(unseated));
    expect(await due(noon)).toBe(true);
  });

  check("the next due moment is the earliest that is still to come", async ({ store }) => {
    await seed(store, b1, b2);
    const next = (now: number) => store.read((tx: Tx) => tx.turns.nextDue(now));
    expect(await next(noon)).toBeUndefined();
    await store.transaction(async (tx) => {
      await tx.turns.queue(aTurn("t1", b1, { notBefore: noon + 5 }));
      await tx.turns.queue(aTurn("t2", b2, { notBefore: noon + 9 }));
    });
    expect([await next(noon), await next(noon + 5), await next(noon + 9)]).toEqual([noon + 5, noon + 9, undefined]);
  });
}
