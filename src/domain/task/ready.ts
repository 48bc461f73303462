import { Dependencies } from "./dependency.ts";
import type { Task, TaskDependency } from "./task.ts";

/** Tasks somebody can start on now: open, unclaimed, everything they wait for closed; most urgent, then oldest first. */
export function readyTasks(tasks: readonly Task[], dependencies: Iterable<TaskDependency>): readonly Task[] {
  const index = new Dependencies(dependencies);
  const closed = new Set(tasks.filter((task) => task.status === "closed").map((task) => task.id));
  const isFree = (task: Task): boolean => index.blockedBy(task.id).every((id) => closed.has(id));
  return tasks.filter((task) => isUntaken(task) && isFree(task)).sort(byUrgency);
}

/** Nobody works on it and nobody set it aside. */
export const isUntaken = (task: Task): boolean => task.status === "open" && task.claimedBy === null;

/**
 * What the closing of its last dependency does to a task: one that was set aside as blocked is open again. A task that
 * waits for nothing was blocked by a person for a reason only they know, and never comes here.
 */
export const unblocked = (task: Task, now: number): Task =>
  task.status === "blocked" ? { ...task, status: "open", updatedAt: Math.max(now, task.updatedAt + 1) } : task;

/** Order of lists of work. Ids decide between tasks of the same millisecond, so that the order never changes. */
export function byUrgency(a: Task, b: Task): number {
  if (a.priority !== b.priority) return a.priority - b.priority;
  if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
  return a.id < b.id ? -1 : Number(a.id > b.id);
}
