import { expect } from "bun:test";
import type { Check } from "./database.ts";
import { anAgent, aRun } from "./rows.ts";

const snapshot = {
  agentName: "ann",
  generation: 1,
  ref: "refs/overstory/snap/ann/1/1",
  commitId: "0123456789",
  reason: "turn ended",
  skipped: ["huge.bin"],
  createdAt: 5,
};

export function snapshotPromises(check: Check): void {
  check("a snapshot is found by its agent's name, oldest first; a ref is recorded once", async ({ store }) => {
    await store.transaction(async (tx) => {
      expect(await tx.snapshots.add(snapshot)).toBe(true);
      expect(await tx.snapshots.add({ ...snapshot, commitId: "other" })).toBe(false);
      await tx.snapshots.add({ ...snapshot, ref: "refs/overstory/snap/ann/1/2", skipped: [] });
    });
    const found = await store.read((tx) => tx.snapshots.of("ann"));
    expect(found.map(({ ref, commitId, skipped }) => ({ ref, commitId, skipped }))).toEqual([
      { ref: "refs/overstory/snap/ann/1/1", commitId: "0123456789", skipped: ["huge.bin"] },
      { ref: "refs/overstory/snap/ann/1/2", commitId: "0123456789", skipped: [] },
    ]);
    expect(await store.read((tx) => tx.snapshots.all())).toEqual(found);
    expect(await store.read((tx) => tx.snapshots.of("bob"))).toEqual([]);
  });

  check("a removal is known by its name until its own process ends it", async ({ store }) => {
    const process = { pid: 7, startToken: "s", bootId: "b" };
    await store.transaction((tx) => tx.removals.begin({ agentName: "ann", ...process, createdAt: 1 }));
    await store.transaction((tx) => tx.removals.begin({ agentName: "ann", ...process, pid: 8, createdAt: 2 }));
    await store.transaction((tx) => tx.removals.end("ann", process));
    expect(await store.read((tx) => tx.removals.of("ann"))).toMatchObject({ pid: 8, createdAt: 2 });
    await store.transaction((tx) => tx.removals.end("ann", { ...process, pid: 8 }));
    expect(await store.read((tx) => tx.removals.of("ann"))).toBeUndefined();
  });

  check("a forgotten snapshot is gone, the others stay", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.snapshots.add(snapshot);
      await tx.snapshots.add({ ...snapshot, ref: "refs/overstory/snap/ann/1/2" });
      expect(await tx.snapshots.remove([])).toBe(0);
      expect(await tx.snapshots.remove([snapshot.ref, "refs/overstory/none"])).toBe(1);
    });
    expect(await store.read((tx) => tx.snapshots.of("ann"))).toHaveLength(1);
  });

  check(
    "a snapshot is left when the last incarnation of its name lost its worktree; a rescue never is",
    async ({ store }) => {
      const of = (name: string, place: string) => ({ ...snapshot, agentName: name, ref: `refs/overstory/${place}/1` });
      const agent = (name: string, generation: number, cleanedAt: number | null) =>
        anAgent(name, { generation, state: "completed", cleanedAt });
      await store.transaction(async (tx) => {
        await tx.runs.insert(aRun("r1"));
        await tx.agents.reserve(agent("ann", 1, 50));
        await tx.agents.reserve(agent("back", 1, 50));
        await tx.agents.reserve(agent("back", 2, null));
        await tx.agents.reserve(agent("late", 1, 100));
        for (const name of ["ann", "back", "late", "nobody"]) await tx.snapshots.add(of(name, `snap/${name}/1`));
        await tx.snapshots.add(of("ann", "rescue/ann"));
      });
      const left = (time: number) => store.read((tx) => tx.snapshots.leftBefore(time));
      expect((await left(100)).map(({ agentName }) => agentName)).toEqual(["ann"]);
      expect((await left(101)).map(({ agentName }) => agentName)).toEqual(["ann", "late"]);
      expect(await left(50)).toEqual([]);
    },
  );

  check("what may be cleaned is counted, and what turns used and what happened can be wiped", async ({ store }) => {
    const usage = { turnId: "turn-1", messageId: "m-1", agentName: "ann", runId: "run-1", taskId: null, model: null };
    const spent = { input: 1, output: 2, cacheRead: 0, cacheWrite: 0, createdAt: 1 };
    await store.transaction((tx) => tx.usage.record({ ...usage, ...spent }));
    await store.transaction((tx) =>
      tx.events.append(["text", "cleaned"].map((type) => ({ source: "agent", type, createdAt: 1 }))),
    );
    const counts = () => store.read((tx) => tx.cleaning.counts());
    expect(await counts()).toEqual({ messages: 0, usage: 1, events: 1 });
    expect(await store.transaction((tx) => tx.cleaning.wipeUsage())).toBe(1);
    expect(await store.transaction((tx) => tx.cleaning.wipeEvents())).toBe(1);
    expect(await counts()).toEqual({ messages: 0, usage: 0, events: 0 });
  });
}
