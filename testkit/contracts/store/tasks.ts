import { expect } from "bun:test";
import type { Task } from "../../../src/domain/task/task.ts";
import type { Check } from "./database.ts";
import { aCriterion, aGroup, aRun, aTask, noon } from "./rows.ts";
import { rejection } from "./transactions.ts";

export function taskPromises(check: Check): void {
  check("a task comes back as it was stored, and an update replaces all of it", async ({ store }) => {
    const full = aTask("T1", {
      description: "long",
      assignee: "b1",
      labels: ["ui", "a,b"],
      files: ["src/x.ts"],
      parentId: "T0",
      runId: "r1",
      claimedBy: "b1",
      claimExpires: noon + 1,
      mergeState: "queued",
      closeReason: "done",
      closedAt: noon + 2,
    });
    await store.transaction(async (tx) => {
      await tx.tasks.insert(full);
      expect(await tx.tasks.get("T1")).toEqual(full);
      const emptied = aTask("T1", { status: "closed" });
      await tx.tasks.update(emptied);
      expect(await tx.tasks.get("T1")).toEqual(emptied);
      expect(await tx.tasks.get("T2")).toBeUndefined();
      expect(await tx.tasks.ids()).toEqual(["T1"]);
    });
  });

  check("tasks are listed by priority, then age", async ({ store }) => {
    const all: readonly Task[] = [
      aTask("T1", { priority: 2, createdAt: noon + 2 }),
      aTask("T2", { priority: 2, createdAt: noon + 1, status: "closed" }),
      aTask("T3", { priority: 0, createdAt: noon + 9, runId: "r1" }),
      aTask("T4", { priority: 4, createdAt: noon, runId: "r1", status: "closed" }),
    ];
    await store.transaction(async (tx) => {
      for (const task of all) await tx.tasks.insert(task);
      const ids = async (filter: Parameters<typeof tx.tasks.list>[0]) =>
        (await tx.tasks.list(filter)).map((task) => task.id);
      expect(await ids({})).toEqual(["T3", "T2", "T1", "T4"]);
      expect(await ids({ limit: 2 })).toEqual(["T3", "T2"]);
      expect(await ids({ status: "closed" })).toEqual(["T2", "T4"]);
      expect(await ids({ runId: "r1", status: "open" })).toEqual(["T3"]);
    });
  });

  check("dependencies are between known tasks, once each", async ({ store }) => {
    await store.transaction(async (tx) => {
      for (const id of ["T1", "T2", "T3"]) await tx.tasks.insert(aTask(id));
      await tx.tasks.addDependency({ taskId: "T1", dependsOn: "T3" });
      await tx.tasks.addDependency({ taskId: "T1", dependsOn: "T2" });
      await tx.tasks.addDependency({ taskId: "T1", dependsOn: "T2" });
      await tx.tasks.addDependency({ taskId: "T2", dependsOn: "T3" });
      expect(await tx.tasks.dependencies()).toEqual([
        { taskId: "T1", dependsOn: "T2" },
        { taskId: "T1", dependsOn: "T3" },
        { taskId: "T2", dependsOn: "T3" },
      ]);
      expect((await tx.tasks.dependenciesOf("T1")).map((dep) => dep.dependsOn)).toEqual(["T2", "T3"]);
      expect((await tx.tasks.dependentsOf("T3")).map((dep) => dep.taskId)).toEqual(["T1", "T2"]);
      expect(await tx.tasks.removeDependency({ taskId: "T1", dependsOn: "T2" })).toBe(true);
      expect(await tx.tasks.removeDependency({ taskId: "T1", dependsOn: "T2" })).toBe(false);
    });
    const unknown = store.transaction((tx) => tx.tasks.addDependency({ taskId: "T1", dependsOn: "T9" }));
    expect(await rejection(unknown)).toBeInstanceOf(Error);
  });

  check("a group keeps its members in the order they joined", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.groups.insert(aGroup("g1", { name: "same", runId: "r1" }), ["T2", "T1"]);
      await tx.groups.insert(aGroup("g2", { name: "same", createdAt: noon + 1 }), []);
      await tx.groups.addMembers("g1", ["T9", "T0"]);
      await tx.groups.addMembers("g2", ["T1"]);
      await tx.groups.removeMembers("g1", ["T2"]);
      await tx.groups.addMembers("g1", ["T2"]);
      expect(await tx.groups.members("g1")).toEqual(["T1", "T9", "T0", "T2"]);
      expect(await tx.groups.get("g1")).toEqual(aGroup("g1", { name: "same", runId: "r1" }));
      expect((await tx.groups.byName("same")).map((group) => group.id)).toEqual(["g1", "g2"]);
      expect((await tx.groups.list()).map((group) => group.id)).toEqual(["g1", "g2"]);
      expect(await tx.groups.byName("none")).toEqual([]);
    });
  });

  check("groups are found by a member, active and completed ones apart", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.groups.insert(aGroup("g1"), ["T1"]);
      await tx.groups.insert(aGroup("g2"), ["T1", "T2"]);
      await tx.groups.setStatus("g1", "completed", noon + 5);
      expect((await tx.groups.activeWith("T1")).map((group) => group.id)).toEqual(["g2"]);
      expect((await tx.groups.completedWith("T1")).map((group) => group.id)).toEqual(["g1"]);
      expect(await tx.groups.completedWith("T2")).toEqual([]);
      expect(await tx.groups.get("g1")).toMatchObject({ status: "completed", completedAt: noon + 5 });
      await tx.groups.setStatus("g1", "active", null);
      expect(await tx.groups.get("g1")).toEqual(aGroup("g1"));
    });
  });

  check("a task has one spec, the last that was put", async ({ store }) => {
    const spec = { taskId: "T1", path: "specs/T1.md", author: null, digest: "d1", updatedAt: noon };
    await store.transaction(async (tx) => {
      expect(await tx.specs.get("T1")).toBeUndefined();
      await tx.specs.put(spec);
      await tx.specs.put({ ...spec, author: "lead", digest: "d2" });
      expect(await tx.specs.get("T1")).toEqual({ ...spec, author: "lead", digest: "d2" });
      expect(await tx.specs.inUse(["d1", "d2", "d3"])).toEqual(new Set(["d2"]));
      expect(await tx.specs.inUse([])).toEqual(new Set());
    });
  });

  check("a run has another objective, and keeps what was changed in order", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      await tx.runs.setObjective("r1", "other words");
      expect(await tx.runs.get("r1")).toMatchObject({ objective: "other words" });
      const change = { runId: "r1", words: "b", wordsBefore: null, changedBy: "operator", changedAt: noon };
      await tx.runs.addChange({ ...change, number: 2, criterion: 1, wordsBefore: "a" });
      await tx.runs.addChange({ ...change, number: 1, criterion: null });
      expect(await tx.runs.changes("r1")).toEqual([
        { ...change, number: 1, criterion: null },
        { ...change, number: 2, criterion: 1, wordsBefore: "a" },
      ]);
      expect(await tx.runs.changes("r2")).toEqual([]);
    });
  });

  check("a run that ended keeps what it left open, until it goes on", async ({ store }) => {
    await store.transaction(async (tx) => {
      await tx.runs.insert(aRun("r1"));
      expect(await tx.runs.leftOpen("r1")).toEqual([]);
      await tx.runs.complete("r1", "completed", noon, ["task T1 is open", "b1 works"]);
      expect(await tx.runs.leftOpen("r1")).toEqual(["task T1 is open", "b1 works"]);
      await tx.runs.reopen("r1");
      expect(await tx.runs.leftOpen("r1")).toEqual([]);
    });
  });

  check("a run has its criteria by number, and a task serves those that were said last", async ({ store }) => {
    await store.transaction(async (tx) => {
      const second = aCriterion(2, { proofKind: "test", proofPath: "a.test.ts", proofTest: "works", provedAt: noon });
      await tx.criteria.put(second);
      await tx.criteria.put(aCriterion(1));
      await tx.criteria.put(aCriterion(1, { waivedBy: "operator", waivedAt: noon, waiveReason: "later" }));
      const stored = await tx.criteria.of("r1");
      expect(stored).toEqual([aCriterion(1, { waivedBy: "operator", waivedAt: noon, waiveReason: "later" }), second]);
      expect(await tx.criteria.of("r2")).toEqual([]);
      await tx.criteria.serve("T1", "r1", [2, 1, 2]);
      await tx.criteria.serve("T2", "r1", [1]);
      await tx.criteria.serve("T1", "r1", [2]);
      expect(await tx.criteria.ofTask("T1")).toEqual([{ taskId: "T1", runId: "r1", number: 2 }]);
      const both = [
        { taskId: "T2", runId: "r1", number: 1 },
        { taskId: "T1", runId: "r1", number: 2 },
      ];
      expect(await tx.criteria.tasksOf("r1")).toEqual(both);
      expect(await tx.criteria.all()).toEqual(both.toReversed());
    });
  });
}
