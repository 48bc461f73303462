import { expect } from "bun:test";
import type { Event } from "../../../src/domain/event/event.ts";
import type { Wait } from "../../../src/ports/store/agents.ts";
import type { EventFilter } from "../../../src/ports/store/events.ts";
import type { Check } from "./database.ts";
import { anAgent, aRun, noon } from "./rows.ts";

const base = { source: "agent", type: "text", createdAt: noon } as const;

export function eventPromises(check: Check): void {
  check("an event comes back whole, with nothing where nothing was said", async ({ store }) => {
    const full = {
      runId: "r1",
      agentName: "b1",
      agentId: "b1-1",
      turnId: "t1",
      line: 4,
      part: 0,
      level: "warn",
    } as const;
    await store.transaction((tx) => tx.events.append([{ ...base, ...full, data: { text: "hé" } }, base]));
    const [first, second, ...rest] = await store.read((tx) => tx.events.after(0, 10));
    expect(first).toEqual({ seq: first?.seq ?? 0, ...base, ...full, data: '{"text":"hé"}' });
    const nothing = { runId: null, agentName: null, agentId: null, turnId: null, line: null, part: null, data: null };
    expect(second).toEqual({ seq: second?.seq ?? 0, ...base, ...nothing, level: "info" });
    expect(rest).toEqual([]);
  });

  check("a line of a turn's output is stored once, however often it is read", async ({ store }) => {
    const line = (turnId: string, line: number, part: number, type = "text") => ({ ...base, turnId, line, part, type });
    await store.transaction((tx) => tx.events.append([line("t1", 1, 0), line("t1", 1, 1), line("t1", 2, 0)]));
    await store.transaction((tx) => tx.events.append([line("t1", 2, 0, "again"), line("t1", 3, 0), line("t2", 1, 0)]));
    const stored = await store.read((tx) => tx.events.after(0, 10));
    expect(stored.map((event) => [event.turnId, event.line, event.part, event.type])).toEqual([
      ["t1", 1, 0, "text"],
      ["t1", 1, 1, "text"],
      ["t1", 2, 0, "text"],
      ["t1", 3, 0, "text"],
      ["t2", 1, 0, "text"],
    ]);
  });

  check("the events of one kind are found by their turn, in the order of its output", async ({ store }) => {
    const line = (turnId: string, line: number, part: number, type: string) => ({ ...base, turnId, line, part, type });
    await store.transaction((tx) =>
      tx.events.append([
        line("t1", 10, 0, "tool_start"),
        line("t1", 2, 1, "tool_start"),
        line("t1", 2, 0, "tool_start"),
        line("t1", 3, 0, "tool_end"),
        line("t2", 1, 0, "tool_start"),
        { ...base, turnId: "t1", type: "tool_start" },
      ]),
    );
    const found = await store.read((tx) => tx.events.ofTurn("t1", "tool_start"));
    expect(found.map(({ line, part }) => [line, part])).toEqual([
      [2, 0],
      [2, 1],
      [10, 0],
    ]);
  });

  check("a reader goes on from the last number it saw", async ({ store }) => {
    expect(await store.read((tx) => tx.events.last())).toBe(0);
    const types = ["a", "b", "c", "d", "e"];
    await store.transaction((tx) => tx.events.append(types.map((type) => ({ ...base, type }))));
    const seen: string[] = [];
    for (let cursor = 0; ; ) {
      const batch = await store.read((tx) => tx.events.after(cursor, 2));
      if (batch.length === 0) break;
      seen.push(...batch.map((event) => event.type));
      cursor = batch.at(-1)?.seq ?? 0;
      expect(batch.length).toBeLessThanOrEqual(2);
    }
    expect(seen).toEqual(types);
    const last = await store.read((tx) => tx.events.last());
    expect(await store.read((tx) => tx.events.after(last, 10))).toEqual([]);
    expect(await store.read((tx) => tx.events.after(last - 1, 10))).toHaveLength(1);
  });

  check("events are listed by agent, run, turn, kind, level and time: the newest, or the first", async ({ store }) => {
    const minute = 60_000;
    await store.transaction((tx) =>
      tx.events.append(
        Array.from({ length: 240 }, (_, n) => ({
          ...base,
          type: n % 10 === 0 ? "tool_end" : "text",
          agentName: n % 3 === 2 ? null : n % 3 === 0 ? "a" : "b",
          runId: n < 100 ? "r1" : n < 120 ? null : "r2",
          turnId: n % 3 === 2 ? null : `t${n % 6}`,
          line: n % 4 === 0 ? null : n,
          part: n % 4 === 0 ? null : 0,
          level: n % 60 === 59 ? "error" : n % 20 === 19 ? "warn" : n % 2 === 0 ? "info" : "debug",
          // The writer of every seventh took its time before it wrote.
          createdAt: noon + n * minute - (n % 7 === 0 ? 30_000 : 0),
        })),
      ),
    );
    const all = await store.read((tx) => tx.events.after(0, 1_000));
    const start = all[0]?.seq ?? 0;
    const serious = ["debug", "info", "warn", "error"];
    const cases: readonly [EventFilter, (event: Event) => boolean][] = [
      [{}, () => true],
      [{ agents: ["a"] }, ({ agentName }) => agentName === "a"],
      [{ agents: ["a", "b"] }, ({ agentName }) => agentName !== null],
      [{ runId: "r1" }, ({ runId }) => runId === "r1"],
      [{ runId: null }, ({ runId }) => runId === null],
      [{ runId: "r2", factsOnly: true }, ({ runId, line }) => runId === "r2" && line === null],
      [{ turnId: "t0" }, ({ turnId }) => turnId === "t0"],
      [{ types: ["tool_end"] }, ({ type }) => type === "tool_end"],
      [
        { runId: "r2", factsOnly: true, types: ["tool_end", "text"], before: start + 200 },
        ({ runId, line, seq }) => runId === "r2" && line === null && seq < start + 200,
      ],
      ...(["debug", "info", "warn", "error"] as const).map((level): [EventFilter, (event: Event) => boolean] => [
        { level },
        (event) => serious.indexOf(event.level) >= serious.indexOf(level),
      ]),
      [{ level: "warn", agents: ["a", "b"] }, ({ level, agentName }) => /warn|error/.test(level) && agentName !== null],
      [{ since: noon + 100 * minute }, ({ createdAt }) => createdAt >= noon + 100 * minute],
      [{ until: noon + 100 * minute }, ({ createdAt }) => createdAt <= noon + 100 * minute],
      [
        { since: noon + 10 * minute, until: noon + 13 * minute, agents: ["a"] },
        ({ createdAt, agentName }) =>
          createdAt >= noon + 10 * minute && createdAt <= noon + 13 * minute && agentName === "a",
      ],
      [{ after: start + 5, before: start + 9 }, ({ seq }) => seq > start + 5 && seq < start + 9],
    ];
    for (const [filter, fits] of cases) {
      const wanted = all.filter(fits).map(({ seq }) => seq);
      expect(wanted.length).toBeGreaterThan(0);
      const [newest, first] = await store.read(async (tx) => [
        await tx.events.newest(filter, 7),
        await tx.events.first(filter, 7),
      ]);
      expect([filter, newest.map(({ seq }) => seq)]).toEqual([filter, wanted.slice(-7)]);
      expect([filter, first.map(({ seq }) => seq)]).toEqual([filter, wanted.slice(0, 7)]);
    }
    expect(await store.read((tx) => tx.events.newest({ agents: [] }, 7))).toEqual([]);
    expect(await store.read((tx) => tx.events.get(start))).toEqual(all[0]);
    expect(await store.read((tx) => tx.events.get(start + 999))).toBeUndefined();
  });

  check("the newest events of a turn are those of its last lines, the last one first", async ({ store }) => {
    const lines = [3, 1, 2].map((line) => ({ ...base, type: "a", turnId: "t1", line, part: 0 }));
    await store.transaction((tx) =>
      tx.events.append([
        ...lines,
        { ...base, type: "a", turnId: "t2", line: 9, part: 0 },
        { ...base, type: "b", turnId: "t1" },
      ]),
    );
    const newest = await store.read((tx) => tx.events.newestOfTurn("t1", 2));
    expect(newest.map(({ line }) => line)).toEqual([3, 2]);
  });

  check("the time of the oldest of the newest events is told once there are more", async ({ store }) => {
    const newestBut = (count: number) => store.read((tx) => tx.events.newestBut(count));
    expect(await newestBut(2)).toBeUndefined();
    await store.transaction((tx) =>
      tx.events.append([7, 8, 9].map((createdAt) => ({ ...base, type: "a", createdAt }))),
    );
    expect([await newestBut(3), await newestBut(2), await newestBut(1)]).toEqual([undefined, 8, 9]);
  });

  check("a notice is given once", async ({ store }) => {
    const once = (agent: string, kind: string, key: string) =>
      store.transaction((tx) => tx.notices.once(agent, kind, key, null));
    expect(await once("b1-1", "stalled", "t1")).toBe(true);
    expect(await once("b1-1", "stalled", "t1")).toBe(false);
    expect([await once("b2-1", "stalled", "t1"), await once("b1-1", "died", "t1")]).toEqual([true, true]);
    expect(await store.transaction((tx) => tx.notices.once("b1-1", "stalled", "t2", 9))).toBe(true);
  });

  check(
    "a wait is kept from its first day, and resolving its object frees everybody who waits for it",
    async ({ store }) => {
      const wait = (agentName: string, ref: string, since: number, change: Partial<Wait> = {}): Wait => ({
        agentName,
        kind: "child",
        ref,
        since,
        deadline: null,
        ...change,
      });
      await store.transaction(async (tx) => {
        await tx.waits.add(wait("lead", "b1", noon + 2));
        await tx.waits.add(wait("lead", "b1", noon + 9, { deadline: noon + 99 }));
        await tx.waits.add(wait("lead", "m1", noon + 1, { kind: "reply", deadline: noon + 50 }));
        await tx.waits.add(wait("other", "b1", noon));
        expect(await tx.waits.of("lead")).toEqual([
          wait("lead", "m1", noon + 1, { kind: "reply", deadline: noon + 50 }),
          wait("lead", "b1", noon + 2),
        ]);
        await tx.runs.insert(aRun("r1"));
        for (const name of ["other", "lead"]) await tx.agents.reserve(anAgent(name));
        expect((await tx.waits.ofKind("child")).map(({ agentName }) => agentName)).toEqual(["other", "lead"]);
        await tx.waits.add(wait("gone", "b1", noon));
        await tx.agents.reserve(anAgent("gone", { state: "completed", outcome: "done" }));
        expect((await tx.waits.ofKind("child")).map(({ agentName }) => agentName)).toEqual(["other", "lead"]);
        expect((await tx.waits.resolve("child", "b1")).sort()).toEqual(["gone", "lead", "other"]);
        expect(await tx.waits.resolve("child", "b1")).toEqual([]);
        await tx.waits.remove("lead", "reply", "another");
        expect(await tx.waits.of("lead")).toHaveLength(1);
        await tx.waits.remove("lead", "reply", "m1");
        expect(await tx.waits.of("lead")).toEqual([]);
      });
    },
  );

  check("the audit lists what was recorded, newest first", async ({ store }) => {
    const entry = { caller: "b1", action: "stop", detail: "no right", now: noon };
    await store.transaction(async (tx) => {
      await tx.audit.record({ ...entry, refused: true });
      await tx.audit.record({ ...entry, refused: false, action: "send" });
      const all = await tx.audit.list(10);
      expect(all.map(({ action, refused, createdAt }) => [action, refused, createdAt])).toEqual([
        ["send", false, noon],
        ["stop", true, noon],
      ]);
      expect(await tx.audit.list(1)).toEqual(all.slice(0, 1));
      expect(await tx.audit.list(10, { before: all[0]?.seq })).toEqual(all.slice(1));
      expect(await tx.audit.list(10, { refused: true, text: "NO RIGHT" })).toEqual(all.slice(1));
      expect(await tx.audit.list(10, { text: "sen%" })).toEqual([]);
      expect(all[1]).toMatchObject({ caller: "b1", detail: "no right" });
    });
  });
}
