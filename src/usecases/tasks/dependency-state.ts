import { byUrgency, isUntaken, unblocked } from "../../domain/task/dependency.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import type { Context } from "../usecase.ts";

/** Ids of what the task waits for that is not closed. */
export async function openDependencies(tx: Tx, taskId: string): Promise<readonly string[]> {
  const open: string[] = [];
  for (const { dependsOn } of await tx.tasks.dependenciesOf(taskId)) {
    if ((await tx.tasks.get(dependsOn))?.status !== "closed") open.push(dependsOn);
  }
  return open;
}

/** Opens what was set aside for these tasks, now closed, and answers everything that became ready by their closing. */
export async function unblockDependents(
  tx: Tx,
  context: Context,
  closedIds: readonly string[],
): Promise<readonly Task[]> {
  const dependents = new Set<string>();
  for (const id of closedIds) {
    for (const { taskId } of await tx.tasks.dependentsOf(id)) dependents.add(taskId);
  }
  const ready: Task[] = [];
  for (const id of dependents) {
    const before = await tx.tasks.get(id);
    if (before === undefined || (await openDependencies(tx, id)).length > 0) continue;
    const task = unblocked(before, context.now);
    if (task !== before) {
      await tx.tasks.update(task);
      await record(tx, context.now, {
        ...byCaller(context.caller, task.runId),
        type: "task_unblocked",
        data: { taskId: id },
      });
    }
    if (isUntaken(task)) ready.push(task);
  }
  return ready.sort(byUrgency);
}
