import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Refusal } from "../refusal.ts";
import type { Result } from "../result.ts";
import {
  changeTask,
  claimTask,
  closeTask,
  dropTask,
  isDropped,
  newTask,
  reopenTask,
  returnTask,
  unholdTask,
} from "./change.ts";
import { type Task, type TaskStatus, taskStatuses } from "./task.ts";

const made = newTask({ id: "t-1", runId: null, title: "  Parse dates " }, 1000);
const task = value(made);
const free = { by: "ann", openDependencies: [] };

function value<T>(result: Result<T, Refusal>): T {
  if (!result.ok) throw new Error(JSON.stringify(result.refusal));
  return result.value;
}

const kindOf = (result: Result<unknown, Refusal>): string => (result.ok ? "ok" : result.refusal.kind);

test("a new task is open, unclaimed, of middle priority, with a trimmed title", () => {
  expect(task).toMatchObject({ title: "Parse dates", status: "open", priority: 2, type: "task", claimedBy: null });
});

test.each([
  ["an empty title", { title: "   " }, "title"],
  ["a title as long as a page", { title: "x".repeat(501) }, "title"],
  ["a priority beyond the scale", { priority: 5 }, "priority"],
  ["half a priority", { priority: 1.5 }, "priority"],
  ["an unknown type", { type: "chore" }, "type"],
  ["closing by update", { status: "closed" }, "status"],
  ["an unknown status", { status: "done" }, "status"],
])("an update with %s is refused and names the field", (_, change, field) => {
  expect(changeTask(task, change, 2000)).toMatchObject({ ok: false, refusal: { kind: "invalid", field } });
});

test("an update replaces the given fields only, and a blank text empties a field", () => {
  const described = value(changeTask(task, { description: "why", labels: ["a", " a", ""] }, 2000));
  expect(described).toMatchObject({ title: "Parse dates", description: "why", labels: ["a"] });
  expect(value(changeTask(described, { description: " " }, 3000))).toMatchObject({ description: null, labels: ["a"] });
});

test("setting a claimed task back to open gives the claim back", () => {
  const claimed = value(claimTask(task, free, 2000));
  expect(value(changeTask(claimed, { status: "open" }, 3000))).toMatchObject({ status: "open", claimedBy: null });
});

test("the status of a closed task changes only by reopening; its other fields stay editable", () => {
  const closed = closeTask(task, "done", 2000);
  expect(kindOf(changeTask(closed, { status: "open" }, 3000))).toBe("task-status");
  expect(value(changeTask(closed, { title: "Better title" }, 3000)).status).toBe("closed");
});

test.each<[TaskStatus, string]>([
  ["open", "ok"],
  ["in_progress", "ok"],
  ["in_review", "task-status"],
  ["blocked", "task-status"],
  ["closed", "task-status"],
])("claiming an unclaimed task that is %s: %s", (status, answer) => {
  expect(kindOf(claimTask({ ...task, status }, free, 2000))).toBe(answer);
});

test("a claim excludes others until it expires; the holder may repeat it", () => {
  const held = value(claimTask(task, { ...free, expires: 5000 }, 2000));
  expect(held).toMatchObject({ status: "in_progress", claimedBy: "ann" });
  expect(claimTask(held, { ...free, by: "bob" }, 4999)).toMatchObject({
    refusal: { kind: "task-held", task: "t-1", holder: "ann" },
  });
  expect(claimTask(held, free, 4999)).toEqual({ ok: true, value: held });
  expect(value(claimTask(held, { ...free, by: "bob" }, 5000)).claimedBy).toBe("bob");
});

test("a task that waits for others cannot be claimed, and the refusal names them", () => {
  expect(claimTask(task, { by: "ann", openDependencies: ["t-0"] }, 2000)).toMatchObject({
    refusal: { kind: "task-blocked", by: ["t-0"] },
  });
});

test("closing twice is closing once", () => {
  const closed = closeTask(value(claimTask(task, free, 1500)), "  done ", 2000);
  expect(closed).toMatchObject({ status: "closed", closeReason: "done", closedAt: 2000, claimedBy: null });
  expect(closeTask(closed, "again", 3000)).toBe(closed);
});

test("a reopened task starts over, without its landing", () => {
  const landed: Task = { ...closeTask(task, null, 2000), mergeState: "merged" };
  expect(value(reopenTask(landed, 3000))).toMatchObject({ status: "open", mergeState: "none", closedAt: null });
  expect(kindOf(reopenTask(task, 3000))).toBe("task-status");
  const left = { ...task, status: "in_progress", claimedBy: "b1" } as const;
  expect(kindOf(reopenTask(left, 3000, "b1"))).toBe("task-held");
  expect(value(reopenTask(left, 3000, null))).toMatchObject({ status: "open", claimedBy: null });
  expect(returnTask(left, "b1", 3000)).toMatchObject({ status: "open", claimedBy: null });
  expect(returnTask(left, "b2", 3000)).toBe(left);
  const reviewed = { ...left, status: "in_review" } as const;
  expect(returnTask(reviewed, "b1", 3000)).toBe(reviewed);
});

test("whatever happens to a task, a closed one has a closing time and no holder, and each change is later", () => {
  const step = fc.oneof(
    fc
      .constantFrom(...taskStatuses)
      .map((status) => (before: Task, now: number) => changeTask(before, { status }, now)),
    fc
      .constantFrom("ann", "bob")
      .map((by) => (before: Task, now: number) => claimTask(before, { by, openDependencies: [] }, now)),
    fc.constant((before: Task, now: number) => ({ ok: true as const, value: closeTask(before, null, now) })),
    fc.constant((before: Task, now: number) => reopenTask(before, now)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.integer({ min: 0, max: 5 })), { maxLength: 30 }), (steps) => {
      let current = task;
      let now = 1000;
      for (const [take, wait] of steps) {
        now += wait;
        const after = take(current, now);
        if (!after.ok) continue;
        if (after.value !== current) expect(after.value.updatedAt).toBeGreaterThan(current.updatedAt);
        current = after.value;
        expect(current.status === "closed").toBe(current.closedAt !== null);
        if (current.status === "closed" || current.status === "open") expect(current.claimedBy).toBeNull();
      }
    }),
  );
});

test("a dropped task is closed without landing, says why, and can be reopened; a closed one is not dropped", () => {
  const held: Task = { ...task, status: "in_review", claimedBy: "b1", mergeState: "queued" };
  const dropped = dropTask(held, " not wanted ", 3000);
  expect(dropped).toMatchObject({ status: "closed", mergeState: "abandoned", claimedBy: null, closedAt: 3000 });
  expect(dropped.closeReason).toBe("dropped: not wanted");
  expect([isDropped(dropped), isDropped(held)]).toEqual([true, false]);
  expect(dropTask(dropped, "again", 4000)).toBe(dropped);
  expect(value(reopenTask(dropped, 4000))).toMatchObject({ status: "open", mergeState: "none", closeReason: null });
  const landed: Task = { ...closeTask(held, "landed", 3000), mergeState: "merged" };
  expect(dropTask(landed, "too late", 4000)).toBe(landed);
  expect(isDropped(landed)).toBe(false);
});

test("a task that waits after its holder was released stays as it is, and nobody holds it", () => {
  const held: Task = { ...task, status: "in_review", claimedBy: "lead", mergeState: "pending" };
  expect(unholdTask(held, "lead", 3000)).toMatchObject({ status: "in_review", claimedBy: null, mergeState: "pending" });
  expect(unholdTask(held, "b1", 3000)).toBe(held);
});
