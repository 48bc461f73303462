import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { list, orNull, text, whole } from "../../domain/schema/schema.ts";
import { Dependencies } from "../../domain/task/dependency.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";

/** A task with its place among the others. */
export interface TaskDetail {
  readonly task: Task;
  /** What it waits for, closed ones included. */
  readonly blockedBy: readonly string[];
  /** Those of them that are not closed. While there are any, the task cannot be claimed. */
  readonly waitsFor: readonly string[];
  /** What waits for it. */
  readonly blocks: readonly string[];
}

/** What may be written about a new task and about one that is there, beside its title. */
export const taskFields = {
  type: text,
  priority: whole,
  description: orNull(text),
  assignee: orNull(text),
  labels: list(text),
  files: list(text),
  parentId: orNull(text),
} as const;

export async function detailOf(tx: Tx, task: Task): Promise<TaskDetail> {
  const blockedBy = await tx.tasks.dependenciesOf(task.id);
  const blocks = await tx.tasks.dependentsOf(task.id);
  const waitsFor: string[] = [];
  for (const { dependsOn } of blockedBy) {
    if ((await tx.tasks.get(dependsOn))?.status !== "closed") waitsFor.push(dependsOn);
  }
  return {
    task,
    blockedBy: blockedBy.map(({ dependsOn }) => dependsOn),
    waitsFor,
    blocks: blocks.map(({ taskId }) => taskId),
  };
}

/** The same for many, in their order, with one query. */
export async function detailsOf(tx: Tx, tasks: readonly Task[]): Promise<readonly TaskDetail[]> {
  if (tasks.length === 0) return [];
  const index = new Dependencies(await tx.tasks.dependencies());
  const open = new Set((await tx.tasks.list({ unclosed: true })).map(({ id }) => id));
  return tasks.map((task) => {
    const blockedBy = index.blockedBy(task.id);
    return { task, blockedBy, waitsFor: blockedBy.filter((id) => open.has(id)), blocks: index.blocks(task.id) };
  });
}

/** The task, or a refusal that names the id the caller most likely meant. */
export async function findTask(tx: Tx, id: string): Promise<Result<Task, Refusal>> {
  const task = await tx.tasks.get(id);
  return task === undefined ? no(notFound("task", id, nearest(id, await tx.tasks.ids()))) : ok(task);
}
