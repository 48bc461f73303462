import { expect, test } from "bun:test";
import fc from "fast-check";
import { newTask } from "./change.ts";
import { Dependencies, dependencyCycle, isOwnAncestor, readyTasks, unblocked } from "./dependency.ts";
import type { Task, TaskDependency } from "./task.ts";

/** `a<b` reads: a waits for b. */
const deps = (...pairs: readonly string[]): TaskDependency[] =>
  pairs.map((pair) => {
    const [taskId = "", dependsOn = ""] = pair.split("<");
    return { taskId, dependsOn };
  });

test.each([
  ["nothing", [], undefined],
  ["a chain", ["a<b", "b<c"], undefined],
  ["a diamond", ["a<b", "a<c", "b<d", "c<d"], undefined],
  ["a task that waits for itself", ["a<a"], ["a", "a"]],
  ["two that wait for each other", ["a<b", "b<a"], ["a", "b", "a"]],
  ["a ring with tails on both sides", ["x<a", "a<b", "b<c", "c<a", "c<y"], ["a", "b", "c", "a"]],
  ["a dependency stated twice", ["a<b", "a<b"], undefined],
])("the cycle in %s is found, if there is one", (_, pairs, path) => {
  expect(dependencyCycle(deps(...pairs), { from: "a" })).toEqual(path);
});

const edges = fc.array(fc.record({ taskId: fc.nat(12).map(String), dependsOn: fc.nat(12).map(String) }), {
  maxLength: 40,
});

test("a reported cycle is a closed walk along real dependencies", () => {
  fc.assert(
    fc.property(edges, (dependencies) => {
      const path = dependencyCycle(dependencies);
      if (path === undefined) return;
      expect(path.length).toBeGreaterThan(1);
      expect(path[0]).toBe(path[path.length - 1]);
      for (let i = 0; i + 1 < path.length; i++) {
        expect(dependencies).toContainEqual({ taskId: path[i] ?? "", dependsOn: path[i + 1] ?? "" });
      }
    }),
  );
});

test("dependencies that only point to smaller numbers never make a cycle, and turning one round the chain always does", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(50), { minLength: 2, maxLength: 20 }), edges, (numbers, noise) => {
      const chain = numbers.sort((a, b) => a - b).map(String);
      const steps = chain.slice(1).map((taskId, i) => ({ taskId, dependsOn: chain[i] ?? "" }));
      const downward = noise.filter(({ taskId, dependsOn }) => Number(dependsOn) < Number(taskId));
      expect(dependencyCycle([...steps, ...downward])).toBeUndefined();
      const back = { taskId: chain[0] ?? "", dependsOn: chain[chain.length - 1] ?? "" };
      expect(dependencyCycle([...steps, ...downward, back], { from: back.taskId })?.slice(0, 2)).toEqual([
        back.taskId,
        back.dependsOn,
      ]);
    }),
  );
});

test("a chain of ten thousand tasks is followed without exhausting the stack", () => {
  const chain = Array.from({ length: 10_000 }, (_, i) => ({ taskId: `t${i}`, dependsOn: `t${i + 1}` }));
  expect(dependencyCycle(chain)).toBeUndefined();
  expect(dependencyCycle([...chain, { taskId: "t10000", dependsOn: "t0" }])).toHaveLength(10_002);
});

test("the index answers in both directions", () => {
  const index = new Dependencies(deps("a<b", "a<c", "d<b"));
  expect(index.blockedBy("a")).toEqual(["b", "c"]);
  expect(index.blocks("b")).toEqual(["a", "d"]);
  expect(index.blocks("a")).toEqual([]);
});

test("a task is its own ancestor only through its parents, even where stored parents run in a circle", () => {
  const tasks = [
    { id: "child", parentId: "middle" },
    { id: "middle", parentId: "top" },
    { id: "top", parentId: null },
    { id: "x", parentId: "y" },
    { id: "y", parentId: "x" },
  ] as Task[];
  expect(isOwnAncestor("top", "child", tasks)).toBe(true);
  expect(isOwnAncestor("top", "top", tasks)).toBe(true);
  expect(isOwnAncestor("child", "top", tasks)).toBe(false);
  expect(isOwnAncestor("child", "x", tasks)).toBe(false);
});

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
