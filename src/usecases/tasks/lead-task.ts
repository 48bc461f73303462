import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { canonical } from "../../domain/agent/capability.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { newestPerName } from "../status/newest-per-name.ts";

/** A lead's task is over when those of all its children are closed or were given up. */
export async function isLeadTaskOver(tx: Tx, lead: Agent): Promise<boolean> {
  for (const { taskId } of newestPerName(await tx.agents.list({ parentName: lead.name }))) {
    const task = taskId === null || taskId === lead.taskId ? undefined : await tx.tasks.get(taskId);
    if (task !== undefined && task.status !== "closed" && task.mergeState !== "abandoned") return false;
  }
  return true;
}

/** Tasks of leads who have finished and only waited for these to be closed. */
export async function leadTasksOver(tx: Tx, closedIds: readonly string[]): Promise<readonly Task[]> {
  const over = new Map<string, Task>();
  for (const taskId of closedIds) {
    for (const { parentName } of await tx.agents.list({ taskId })) {
      const lead = await tx.agents.byName(parentName);
      if (lead === undefined || lead.taskId === null || canonical(lead.capability) !== "lead") continue;
      const task = await tx.tasks.get(lead.taskId);
      if (task === undefined || task.status === "closed" || closedIds.includes(task.id)) continue;
      if (hasFinished(lead, task) && (await isLeadTaskOver(tx, lead))) over.set(task.id, task);
    }
  }
  return [...over.values()];
}

/** An accepted completion leaves the task in review, though the lead's last turn may not be over yet. */
const hasFinished = (lead: Agent, task: Task): boolean =>
  task.status === "in_review" || (hasEnded(lead) && lead.outcome === "done");
