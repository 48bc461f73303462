import { expect } from "bun:test";
import type { MergeAttempt } from "../../../src/domain/merge/attempt.ts";
import { type MergeEntry, mergeStatuses, openMergeStatuses } from "../../../src/domain/merge/entry.ts";
import type { MergeOp } from "../../../src/domain/merge/operation.ts";
import type { MergeFilter } from "../../../src/ports/store/merges.ts";
import type { Check } from "./database.ts";
import { anAgent, noon, seed } from "./rows.ts";
import { rejection } from "./transactions.ts";

export const anEntry = (branch: string, change: Partial<MergeEntry> = {}): Omit<MergeEntry, "id"> => ({
  branch,
  headCommit: "c0ffee",
  targetBranch: "main",
  taskId: null,
  agentName: null,
  runId: null,
  filesModified: [],
  dependsOn: [],
  priority: 2,
  source: "mail",
  enqueuedBy: "lead",
  enqueuedAt: noon,
  status: "pending",
  approval: "parent",
  tier: null,
  strategy: null,
  verdict: null,
  attempts: 0,
  notBefore: 0,
  resultCommit: null,
  cause: null,
  causeDetail: null,
  updatedAt: noon,
  ...change,
});

const anAttempt = (id: string, change: Partial<MergeAttempt> = {}): MergeAttempt => ({
  id,
  trainId: "train-1",
  queueIds: [1],
  baseCommit: "base",
  candidateCommit: null,
  outcome: null,
  gateResults: [],
  members: [],
  startedAt: noon,
  finishedAt: null,
  logDir: null,
  ...change,
});

export const anOp = (id: string, change: Partial<MergeOp> = {}): Omit<MergeOp, "seq"> => ({
  id,
  kind: "land",
  ref: "refs/heads/main",
  beforeCommit: "before",
  afterCommit: null,
  queueIds: [1],
  actor: "system",
  status: "intended",
  undoes: null,
  undoneBy: null,
  request: {},
  problem: null,
  createdAt: noon,
  updatedAt: noon,
  ...change,
});

const both = ["parent", "operator"] as const;

export function mergePromises(check: Check): void {
  check("an entry comes back as it was stored, with a number that grows", async ({ store }) => {
    const full = anEntry("overstory/b1/T1", {
      taskId: "T1",
      agentName: "b1",
      runId: "r1",
      filesModified: ["a b.ts", "ä.ts"],
      dependsOn: [7, 8],
      tier: "auto-resolve",
      strategy: "union",
      verdict: "verified",
      resultCommit: "beef",
      cause: "conflict",
      causeDetail: { message: "both changed it", files: ["ä.ts"] },
    });
    const [first, second] = await store.transaction(async (tx) => [
      await tx.merges.insert(full),
      await tx.merges.insert(anEntry("overstory/b2/T2")),
    ]);
    expect(second).toBeGreaterThan(first ?? 0);
    expect(await store.read((tx) => tx.merges.get(first ?? 0))).toEqual({ ...full, id: first ?? 0 });
    expect(await store.read((tx) => tx.merges.get(999))).toBeUndefined();
  });

  check("a branch holds one place per target, and another once it has left it", async ({ store }) => {
    const id = await store.transaction((tx) => tx.merges.insert(anEntry("x")));
    for (const status of openMergeStatuses) {
      await store.transaction((tx) => tx.merges.change(id, mergeStatuses, { status }));
      await rejection(store.transaction((tx) => tx.merges.insert(anEntry("x"))));
      expect((await store.read((tx) => tx.merges.openOf("x", "main")))?.id).toBe(id);
    }
    await store.transaction((tx) => tx.merges.insert(anEntry("x", { targetBranch: "dev" })));
    for (const status of mergeStatuses.filter((known) => !openMergeStatuses.some((open) => open === known))) {
      await store.transaction((tx) => tx.merges.change(id, mergeStatuses, { status }));
      expect(await store.read((tx) => tx.merges.openOf("x", "main"))).toBeUndefined();
    }
    await store.transaction((tx) => tx.merges.insert(anEntry("x")));
  });

  check("entries are listed by number, by what they are and whose they are", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.merges.insert(anEntry("a", { status: "merged", runId: "r1", taskId: "T1" }));
      await tx.merges.insert(anEntry("b", { approval: "waiting", runId: "r1" }));
      await tx.merges.insert(anEntry("a", { runId: "r2" }));
    });
    const branches = async (filter: MergeFilter) =>
      (await store.read((tx) => tx.merges.list(filter))).map(({ branch }) => branch);
    expect(await branches({})).toEqual(["a", "b", "a"]);
    expect(await branches({ limit: 2 })).toEqual(["b", "a"]);
    expect(await branches({ ids: [2, 1, 99] })).toEqual(["a", "b"]);
    expect(await branches({ ids: [] })).toEqual([]);
    expect(await branches({ statuses: ["merged", "failed"] })).toEqual(["a"]);
    expect(await branches({ statuses: [] })).toEqual([]);
    expect(await branches({ runId: "r1" })).toEqual(["a", "b"]);
    expect(await branches({ newestOfBranch: true })).toEqual(["b", "a"]);
    expect(await branches({ newestOfBranch: true, runId: "r1" })).toEqual(["b"]);
    expect(await branches({ branch: "a", statuses: openMergeStatuses })).toEqual(["a"]);
    expect(await branches({ branches: ["a", "c"], newestOfBranch: true })).toEqual(["a"]);
    expect(await branches({ branches: [] })).toEqual([]);
    expect(await branches({ approval: "waiting" })).toEqual(["b"]);
    expect(await branches({ taskId: "T1" })).toEqual(["a"]);
  });

  check("an entry is changed only by who knows its status", async ({ store }) => {
    const id = await store.transaction((tx) => tx.merges.insert(anEntry("a")));
    const claim = () =>
      store.transaction((tx) => tx.merges.change(id, ["pending"], { status: "merging", attempts: 1 }));
    expect((await Promise.all([claim(), claim()])).filter((won) => won)).toHaveLength(1);
    expect(await store.read((tx) => tx.merges.get(id))).toMatchObject({ status: "merging", attempts: 1 });
  });

  check("work is due for what could land now, is half-way, or is intended", async ({ store }) => {
    const due = (approvals: readonly ("parent" | "operator")[] = both) =>
      store.read((tx) => tx.merges.dueWork(noon, approvals));
    expect(await due()).toBe(false);
    const id = await store.transaction((tx) => tx.merges.insert(anEntry("a", { approval: "waiting" })));
    expect(await due()).toBe(false);
    const set = (change: Partial<MergeEntry>) => store.transaction((tx) => tx.merges.change(id, mergeStatuses, change));
    await set({ approval: "parent" });
    expect([await due(), await due(["operator"])]).toEqual([true, false]);
    await set({ status: "blocked", notBefore: noon + 5 });
    expect(await due()).toBe(false);
    expect(await store.read((tx) => tx.merges.nextDue(noon, both))).toBe(noon + 5);
    expect(await store.read((tx) => tx.merges.nextDue(noon, ["operator"]))).toBeUndefined();
    expect(await store.read((tx) => tx.merges.nextDue(noon + 5, both))).toBeUndefined();
    await set({ status: "gating", approval: "waiting" });
    expect(await due()).toBe(true);
    await set({ status: "merged" });
    expect(await due()).toBe(false);
    await store.transaction((tx) => tx.mergeOps.insert(anOp("op-1")));
    expect(await due()).toBe(true);
  });

  check("a paused queue has nothing due but what brings in a target and what is half-way", async ({ store }) => {
    const pause = { pausedBy: "operator", reason: "release day", since: 5 };
    const isDue = () => store.read((tx) => tx.merges.dueWork(100, ["operator"]));
    const nextDue = () => store.read((tx) => tx.merges.nextDue(100, ["operator"]));
    const id = await store.transaction((tx) =>
      tx.merges.insert(anEntry("a", { approval: "operator", notBefore: 0, agentName: "b1" })),
    );
    await store.transaction((tx) =>
      tx.merges.insert(anEntry("later", { approval: "operator", notBefore: 200, agentName: "b1" })),
    );
    expect([await isDue(), await nextDue(), await store.read((tx) => tx.merges.pause())]).toEqual([
      true,
      200,
      undefined,
    ]);
    await store.transaction((tx) => tx.merges.setPause({ ...pause, reason: null }));
    await store.transaction((tx) => tx.merges.setPause(pause));
    expect([await isDue(), await nextDue(), await store.read((tx) => tx.merges.pause())]).toEqual([
      false,
      undefined,
      pause,
    ]);
    await store.transaction((tx) => tx.merges.change(id, ["pending"], { status: "gating" }));
    expect(await isDue()).toBe(true);
    await store.transaction((tx) => tx.merges.change(id, ["gating"], { status: "merged" }));
    const brings = { source: "engine", agentName: null, approval: "operator", notBefore: 0 } as const;
    await store.transaction((tx) => tx.merges.insert(anEntry("main", brings)));
    expect(await isDue()).toBe(true);
    await store.transaction((tx) => tx.merges.setPause(undefined));
    expect(await nextDue()).toBe(200);
  });

  check("what waits for an entry that has not landed is not due", async ({ store }) => {
    // Twelve entries: that 1 has landed must not count for 11 or 12.
    const ids = await store.transaction(async (tx) => {
      const made: number[] = [];
      for (let i = 0; i < 12; i++) made.push(await tx.merges.insert(anEntry(`b${i}`, { status: "failed" })));
      return made;
    });
    const first = ids[0] ?? 0;
    const last = ids.at(-1) ?? 0;
    const due = () => store.read((tx) => tx.merges.dueWork(noon, both));
    const set = (id: number, change: Partial<MergeEntry>) =>
      store.transaction((tx) => tx.merges.change(id, mergeStatuses, change));
    await store.transaction((tx) => tx.merges.insert(anEntry("waits", { dependsOn: [first, last] })));
    await set(first, { status: "merged" });
    expect(await due()).toBe(false);
    await set(last, { status: "merged" });
    expect(await due()).toBe(true);
    await set(first, { status: "reverted" });
    expect(await due()).toBe(false);
  });

  check("attempts are found by entry and while they are unfinished", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.mergeAttempts.insert(anAttempt("at-1", { queueIds: [1, 21] }));
      await tx.mergeAttempts.insert(anAttempt("at-2", { queueIds: [2], startedAt: noon + 1 }));
      await tx.mergeAttempts.change("at-1", {
        outcome: "failed",
        finishedAt: noon + 2,
        candidateCommit: "cand",
        gateResults: ["g1"],
        members: [{ id: 1, outcome: "failed", trees: ["t1"] }],
      });
    });
    expect(await store.read((tx) => tx.mergeAttempts.of(1))).toEqual([
      anAttempt("at-1", {
        queueIds: [1, 21],
        outcome: "failed",
        finishedAt: noon + 2,
        candidateCommit: "cand",
        gateResults: ["g1"],
        members: [{ id: 1, outcome: "failed", trees: ["t1"] }],
      }),
    ]);
    expect((await store.read((tx) => tx.mergeAttempts.of(2))).map(({ id }) => id)).toEqual(["at-2"]);
    expect((await store.read((tx) => tx.mergeAttempts.unfinished())).map(({ id }) => id)).toEqual(["at-2"]);
    expect((await store.read((tx) => tx.mergeAttempts.get("at-2")))?.outcome).toBeNull();
  });

  check("the log of operations is newest first, and each is settled once", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.mergeOps.insert(anOp("op-1", { queueIds: [1, 2] }));
      await tx.mergeOps.insert(
        anOp("op-2", { kind: "undo", undoes: "op-1", request: { requeue: true }, queueIds: [2] }),
      );
      await tx.mergeOps.insert(anOp("op-3", { kind: "promote", ref: "refs/heads/dev", queueIds: [] }));
    });
    const ids = async (filter: { kind?: "land"; status?: "intended" | "done"; ref?: string; queueId?: number }) =>
      (await store.read((tx) => tx.mergeOps.list(filter))).map(({ id }) => id);
    expect(await ids({})).toEqual(["op-3", "op-2", "op-1"]);
    expect(await ids({ queueId: 2 })).toEqual(["op-2", "op-1"]);
    expect(await ids({ kind: "land" })).toEqual(["op-1"]);
    expect(await ids({ ref: "refs/heads/dev" })).toEqual(["op-3"]);
    const settle = (afterCommit: string) =>
      store.transaction((tx) => tx.mergeOps.settle("op-1", { status: "done", afterCommit, updatedAt: noon + 1 }));
    expect([await settle("one"), await settle("two")]).toEqual([true, false]);
    expect(await ids({ status: "done" })).toEqual(["op-1"]);
    await store.transaction((tx) => tx.mergeOps.setUndoneBy("op-1", "op-2"));
    const stored = await store.read((tx) => tx.mergeOps.get("op-1"));
    expect(stored).toMatchObject({ status: "done", afterCommit: "one", undoneBy: "op-2", updatedAt: noon + 1 });
    expect((await store.read((tx) => tx.mergeOps.get("op-2")))?.request).toEqual({ requeue: true });
  });

  check("agents are found by the branch they work on", async ({ store }) => {
    await seed(store, anAgent("b1", { branch: "overstory/b1/T1" }), anAgent("b2", { branch: "overstory/b2/T2" }));
    const found = await store.read((tx) => tx.agents.list({ branch: "overstory/b1/T1" }));
    expect(found.map(({ name }) => name)).toEqual(["b1"]);
    const named = async (...branches: string[]) =>
      (await store.read((tx) => tx.agents.list({ branches }))).map(({ name }) => name);
    expect(await named("overstory/b2/T2", "none", "overstory/b1/T1")).toEqual(["b1", "b2"]);
    expect(await named()).toEqual([]);
  });
}
