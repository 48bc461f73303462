import type { Task, TaskDependency } from "./task.ts";

/**
 * A path along which tasks would wait for each other, first and last task the same; undefined when there is none.
 * `from` is where the path starts when that task is on it.
 */
export function dependencyCycle(
  dependencies: Iterable<TaskDependency>,
  options: { readonly from?: string } = {},
): readonly string[] | undefined {
  const graph = knots(dependencies);
  const start = graph.keys().next();
  if (start.done === true) return undefined;
  const path: string[] = [];
  const seen = new Map<string, number>();
  let task = start.value;
  while (!seen.has(task)) {
    seen.set(task, path.length);
    path.push(task);
    const next = graph.get(task)?.values().next().value;
    if (next === undefined) return undefined;
    task = next;
  }
  return closed(path.slice(seen.get(task)), options.from);
}

/** For each task the tasks it waits for, and the tasks that wait for it. */
export class Dependencies {
  readonly #blockedBy = new Map<string, string[]>();
  readonly #blocks = new Map<string, string[]>();

  constructor(dependencies: Iterable<TaskDependency>) {
    for (const { taskId, dependsOn } of dependencies) {
      append(this.#blockedBy, taskId, dependsOn);
      append(this.#blocks, dependsOn, taskId);
    }
  }

  blockedBy(taskId: string): readonly string[] {
    return this.#blockedBy.get(taskId) ?? [];
  }

  blocks(taskId: string): readonly string[] {
    return this.#blocks.get(taskId) ?? [];
  }
}

/** Would this parent make the task its own ancestor? */
export function isOwnAncestor(taskId: string, parentId: string, tasks: readonly Task[]): boolean {
  const parents = new Map(tasks.map((task) => [task.id, task.parentId]));
  const visited = new Set<string>();
  let id: string | null = parentId;
  while (id !== null && !visited.has(id)) {
    if (id === taskId) return true;
    visited.add(id);
    id = parents.get(id) ?? null;
  }
  return false;
}

/**
 * The tasks that lead to a cycle: the rest of the graph after every task without a dependency was removed, again and
 * again.
 */
function knots(dependencies: Iterable<TaskDependency>): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>();
  const waiting = new Map<string, string[]>();
  for (const { taskId, dependsOn } of dependencies) {
    const targets = graph.get(taskId) ?? new Set<string>();
    if (!targets.has(dependsOn)) append(waiting, dependsOn, taskId);
    graph.set(taskId, targets.add(dependsOn));
  }
  const free = [...waiting.keys()].filter((task) => !graph.has(task));
  for (let done = free.pop(); done !== undefined; done = free.pop()) {
    for (const task of waiting.get(done) ?? []) {
      const targets = graph.get(task);
      targets?.delete(done);
      if (targets?.size !== 0) continue;
      graph.delete(task);
      free.push(task);
    }
  }
  return graph;
}

function closed(cycle: readonly string[], from: string | undefined): readonly string[] {
  const start = from === undefined ? 0 : Math.max(0, cycle.indexOf(from));
  const turned = [...cycle.slice(start), ...cycle.slice(0, start)];
  return [...turned, ...turned.slice(0, 1)];
}

function append(map: Map<string, string[]>, key: string, value: string): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}

/**
 * Tasks an agent can start on now: open, unclaimed, everything they wait for closed; most urgent, then oldest first.
 */
export function readyTasks(tasks: readonly Task[], dependencies: Iterable<TaskDependency>): readonly Task[] {
  const index = new Dependencies(dependencies);
  const closed = new Set(tasks.filter((task) => task.status === "closed").map((task) => task.id));
  const isFree = (task: Task): boolean => index.blockedBy(task.id).every((id) => closed.has(id));
  return tasks.filter((task) => isUntaken(task) && isFree(task)).sort(byUrgency);
}

/** No agent works on it and it was not set aside. */
export const isUntaken = (task: Task): boolean => task.status === "open" && task.claimedBy === null;

/**
 * The task after its last dependency closed: a task that was blocked by dependencies is open again. A task without
 * dependencies was blocked by a person, for a reason of their own, and never comes here.
 */
export const unblocked = (task: Task, now: number): Task =>
  task.status === "blocked" ? { ...task, status: "open", updatedAt: Math.max(now, task.updatedAt + 1) } : task;

/** Order of lists of work. Ids decide between tasks of the same millisecond, so that the order never changes. */
export function byUrgency(a: Task, b: Task): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}
