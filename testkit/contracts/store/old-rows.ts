import { expect } from "bun:test";
import type { Place } from "../../../src/ports/store/old-rows.ts";
import { oldRowKinds } from "../../../src/ports/store/old-rows.ts";
import type { Check } from "./database.ts";
import { anAgent, aRun, noon } from "./rows.ts";

const all = { before: noon + 1_000_000, after: null, most: 9 };

export function oldRowPromises(check: Check): void {
  check("of every kind there may be none", async ({ store }) => {
    for (const kind of oldRowKinds) {
      expect(await store.read((tx) => tx.oldRows.look(kind, all))).toEqual({ free: [], last: null });
      expect(await store.transaction((tx) => tx.oldRows.remove(kind, ["1"], all.before))).toBe(0);
    }
  });

  check("rows are looked at a few at a time, the oldest first, up to the first young one", async ({ store }) => {
    await store.transaction(async (tx) => {
      for (const [age, id] of ["q1", "q2", "q3", "q4"].entries())
        await tx.requests.store(id, "status", "{}", noon + age);
      await tx.events.append([0, 1, 2, 3].map((age) => ({ source: "engine", type: "x", createdAt: noon + age })));
    });
    for (const kind of ["requests", "events"] as const) {
      const look = (after: Place | null) =>
        store.read((tx) => tx.oldRows.look(kind, { before: noon + 3, after, most: 2 }));
      const first = await look(null);
      expect(first.free).toHaveLength(2);
      const second = await look(first.last);
      expect(second).toEqual({ free: [expect.any(String)], last: null });
      const remove = (keys: readonly string[]) => store.transaction((tx) => tx.oldRows.remove(kind, keys, noon + 3));
      expect([await remove(first.free), await remove(first.free), await remove(second.free)]).toEqual([2, 0, 1]);
    }
    expect(await store.read((tx) => tx.requests.reply("q4"))).toBe("{}");
    expect((await store.read((tx) => tx.events.after(0, 9))).map(({ createdAt }) => createdAt)).toEqual([noon + 3]);
  });

  check("what is needed is neither found free nor removed, even when it is named", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      await tx.agents.reserve(anAgent("b1"));
      await tx.events.append([
        { source: "agent", type: "x", agentName: "b1", createdAt: noon },
        { source: "engine", type: "y", runId: "r1", createdAt: noon },
      ]);
    });
    expect(await store.read((tx) => tx.oldRows.look("events", all))).toEqual({ free: [], last: null });
    expect(await store.transaction((tx) => tx.oldRows.remove("events", ["1", "2"], all.before))).toBe(0);
    await store.transaction((tx) => tx.agents.release("b1-1", noon));
    expect((await store.read((tx) => tx.oldRows.look("events", all))).free).toHaveLength(1);
  });

  check("a place is remembered until it is given up", async ({ store }) => {
    const place = (what: string) => store.read((tx) => tx.oldRows.place(what));
    await store.transaction(async (tx) => {
      await tx.oldRows.setPlace("mail", { at: 1, id: "a" });
      await tx.oldRows.setPlace("mail", { at: noon, id: "b" });
    });
    expect([await place("mail"), await place("events")]).toEqual([{ at: noon, id: "b" }, null]);
    await store.transaction((tx) => tx.oldRows.setPlace("mail", null));
    expect(await place("mail")).toBeNull();
  });
}
