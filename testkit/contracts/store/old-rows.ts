import { expect } from "bun:test";
import { type MergeEntry, mergeRef } from "../../../src/domain/merge/entry.ts";
import type { Place } from "../../../src/ports/store/old-rows.ts";
import { oldRowKinds } from "../../../src/ports/store/old-rows.ts";
import type { Check } from "./database.ts";
import { aReceipt } from "./gates.ts";
import { anEntry, anOp } from "./merges.ts";
import { aDelivery, aMessage, anAgent, aRun, aTask, noon } from "./rows.ts";

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

  check("a name is settled when nothing needs it, and goes with its merges, ledgers and memory", async ({ store }) => {
    const before = noon + 10;
    const over = { state: "completed", outcome: "done", runId: "over", endedAt: noon, releasedAt: noon } as const;
    const gone = (name: string) => anAgent(name, { ...over, cleanedAt: noon, branch: `overstory/${name}/T` });
    const settled = (after = "", most = 9) => store.read((tx) => tx.oldRows.settledNames({ before, after, most }));
    await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      await tx.runs.insert(aRun("over", { status: "completed", completedAt: noon }));
      for (const name of ["asks", "free", "lost", "mailed", "parent", "taken", "undone", "works"])
        await tx.agents.reserve(gone(name));
      await tx.agents.reserve(anAgent("child", { parentName: "parent" }));
      await tx.agents.reserve(anAgent("kept", { ...over, cleanedAt: null }));
      await tx.agents.reserve(anAgent("young", { ...over, cleanedAt: before }));
      await tx.agents.reserve(anAgent("works", { generation: 2 }));
      await tx.waits.add({ agentName: "asks", kind: "explicit", ref: "x", since: noon, deadline: null });
      await tx.tasks.insert(aTask("T1", { claimedBy: "taken", status: "in_progress" }));
      await tx.messages.insert(aMessage("m1", { fromAgent: "free" }));
      await tx.deliveries.insert([aDelivery(await tx.messages.insert(aMessage("m2")), "mailed")]);
      const entryOf = (name: string, status: MergeEntry["status"]) =>
        tx.merges.insert(anEntry(`overstory/${name}/T`, { agentName: name, status, updatedAt: noon }));
      await entryOf("lost", "failed");
      const undone = await entryOf("undone", "merged");
      await tx.mergeOps.insert(anOp("op-1", { kind: "undo", queueIds: [undone] }));
      const landed = await entryOf("free", "merged");
      await tx.receipts.add(aReceipt("r-1", { kind: "landing", subject: mergeRef(landed), createdAt: noon }));
      await tx.budgets.book([{ scope: "agent", subject: "free", unit: "turns", spent: 1, reserved: 0 }], noon);
    });
    expect(await settled()).toEqual({ free: ["free"], last: null });
    expect(await settled("", 2)).toEqual({ free: ["free"], last: "free" });
    expect((await settled("free")).free).toEqual([]);
    await store.transaction(async (tx) => {
      expect(await tx.oldRows.forgetName("lost", before)).toBe(0);
      expect(await tx.oldRows.forgetName("free", before)).toBe(4);
      expect(await tx.agents.byName("free")).toBeUndefined();
      expect(await tx.merges.list({ branch: "overstory/free/T" })).toEqual([]);
      expect(await tx.receipts.get("r-1")).toBeUndefined();
      expect(await tx.budgets.of([{ scope: "agent", subject: "free" }])).toEqual([]);
      expect(await tx.agents.byName("lost")).toBeDefined();
    });
  });

  check("the ledger of a task goes with its last agent once the task was closed long enough", async ({ store }) => {
    const before = noon + 10;
    const over = { state: "completed", outcome: "done", runId: "over", endedAt: noon, releasedAt: noon } as const;
    const left = { closed: 0, late: 1, open: 1, shared: 1, unknown: 0 } as const;
    await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      await tx.runs.insert(aRun("over", { status: "completed", completedAt: noon }));
      for (const name of Object.keys(left)) {
        await tx.agents.reserve(anAgent(name, { ...over, cleanedAt: noon, taskId: `T-${name}` }));
        await tx.budgets.book([{ scope: "task", subject: `T-${name}`, unit: "turns", spent: 1, reserved: 0 }], noon);
      }
      await tx.agents.reserve(anAgent("other", { taskId: "T-shared" }));
      await tx.tasks.insert(aTask("T-closed", { status: "closed", closedAt: noon }));
      await tx.tasks.insert(aTask("T-shared", { status: "closed", closedAt: noon }));
      await tx.tasks.insert(aTask("T-late", { status: "closed", closedAt: before }));
      await tx.tasks.insert(aTask("T-open"));
    });
    await store.transaction(async (tx) => {
      for (const [name, count] of Object.entries(left)) {
        expect([name, await tx.oldRows.forgetName(name, before)]).toEqual([name, 2 - count]);
        expect(await tx.budgets.of([{ scope: "task", subject: `T-${name}` }])).toHaveLength(count);
      }
    });
  });

  check("an older landing keeps what it says about entries that are there, and about the whole", async ({ store }) => {
    const member = (id: number) => ({ id, commit: `c${id}`, tier: "clean-merge", strategy: null }) as const;
    const about = { verdict: "verified", gaps: [], results: ["g1"], tree: "t1" } as const;
    const landing = (id: string, ids: readonly number[], updatedAt: number) =>
      anOp(id, { status: "done", queueIds: ids, request: { ...about, members: ids.map(member) }, updatedAt });
    const requestOf = async (id: string) => (await store.read((tx) => tx.mergeOps.get(id)))?.request;
    const [there] = await store.transaction(async (tx) => {
      const ids = [await tx.merges.insert(anEntry("b1"))];
      await tx.mergeOps.insert(landing("op-gone", [901, 902], noon));
      await tx.mergeOps.insert(landing("op-mixed", [...ids, 903], noon));
      await tx.mergeOps.insert(landing("op-there", ids, noon));
      await tx.mergeOps.insert(landing("op-young", [904], noon + 10));
      return ids;
    });
    if (there === undefined) throw new Error("an entry has a number");
    const shorten = () => store.transaction((tx) => tx.oldRows.shortenLandings(noon + 10));
    expect([await shorten(), await shorten()]).toEqual([2, 0]);
    const { results: _, ...whole } = about;
    expect(await requestOf("op-gone")).toEqual(whole);
    expect(await requestOf("op-mixed")).toEqual({ ...whole, members: [member(there)], along: [] });
    expect(await requestOf("op-there")).toEqual({ ...about, members: [member(there)] });
    expect(await requestOf("op-young")).toEqual({ ...about, members: [member(904)] });
    expect((await store.read((tx) => tx.mergeOps.get("op-gone")))?.queueIds).toEqual([901, 902]);
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
