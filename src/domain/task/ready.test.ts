import { expect, test } from "bun:test";
import { newTask } from "./change.ts";
import { readyTasks, unblocked } from "./ready.ts";
import type { Task } from "./task.ts";

function task(id: string, facts: Partial<Task> = {}): Task {
  const made = newTask({ id, runId: null, title: id }, 0);
  if (!made.ok) throw new Error("the sample task is wrong");
  return { ...made.value, ...facts };
}

const readyIds = (tasks: Task[], pairs: readonly (readonly [string, string])[] = []): string[] =>
  readyTasks(
    tasks,
    pairs.map(([taskId, dependsOn]) => ({ taskId, dependsOn })),
  ).map(({ id }) => id);

test("what can be started comes by priority, then age, then id", () => {
  const tasks = [
    task("late", { priority: 1, createdAt: 9 }),
    task("calm", { priority: 4 }),
    task("b", { priority: 1, createdAt: 5 }),
    task("a", { priority: 1, createdAt: 5 }),
    task("urgent", { priority: 0, createdAt: 10 }),
  ];
  expect(readyIds(tasks)).toEqual(["urgent", "a", "b", "late", "calm"]);
});

test.each<[string, Partial<Task>]>([
  ["claimed", { claimedBy: "ann" }],
  ["in progress", { status: "in_progress" }],
  ["in review", { status: "in_review" }],
  ["set aside", { status: "blocked" }],
  ["closed", { status: "closed" }],
])("a task that is %s is not ready", (_, facts) => {
  expect(readyIds([task("a", facts)])).toEqual([]);
});

test("a task is ready when everything it waits for is closed", () => {
  const closed = task("x", { status: "closed" });
  const open = task("y", { claimedBy: "ann" });
  const waits = [
    ["a", "x"],
    ["b", "x"],
    ["b", "y"],
  ] as const;
  expect(readyIds([task("a"), task("b"), closed, open], waits)).toEqual(["a"]);
});

test("a task that was set aside for its dependencies is open again, others stay the same object", () => {
  expect(unblocked(task("a", { status: "blocked", updatedAt: 50 }), 10)).toMatchObject({
    status: "open",
    updatedAt: 51,
  });
  const running = task("b", { status: "in_progress" });
  expect(unblocked(running, 10)).toBe(running);
});
