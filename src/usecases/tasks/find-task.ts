import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";

/** The task, or a refusal that names the id the caller most likely meant. */
export async function findTask(tx: Tx, id: string): Promise<Result<Task, Refusal>> {
  const task = await tx.tasks.get(id);
  return task === undefined ? no(notFound("task", id, nearest(id, await tx.tasks.ids()))) : ok(task);
}
