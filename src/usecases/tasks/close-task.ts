import { type Agent, hasEnded, newestPerName } from "../../domain/agent/agent.ts";
import { canonical } from "../../domain/agent/capability.ts";
import { ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { closeTask as close } from "../../domain/task/change.ts";
import type { Group, Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import { completeGroupsOf } from "../groups/complete-group.ts";
import type { Context, UseCase } from "../usecase.ts";
import { unblockDependents } from "./dependencies.ts";
import { detailOf, detailsOf, type TaskDetail } from "./task-detail.ts";
import { findTaskFor } from "./team-tasks.ts";

export interface CloseTaskRequest {
  readonly id: string;
  readonly reason?: string | undefined;
}

export interface CloseTaskReply extends TaskDetail {
  /** What can be started now because of it. */
  readonly ready: readonly TaskDetail[];
  readonly completedGroups: readonly Group[];
}

/** Ends a task, with everything that follows from it. */
export const closeTask: UseCase<CloseTaskRequest, CloseTaskReply> = {
  kind: "write",
  request: fields({ id: text }, { reason: text }),
  run: async (tx, context, { id, reason }) => {
    const found = await findTaskFor(tx, context.caller, "close", id);
    if (!found.ok) return found;
    const { task, ready, completedGroups } = await closeAndFollow(tx, context, found.value, reason ?? null);
    return ok({ ...(await detailOf(tx, task)), ready: await detailsOf(tx, ready), completedGroups });
  },
};

/** Closes a task in the caller's transaction; whether the caller may was decided before. For landing and `ov done`, too. */
export async function closeAndFollow(
  tx: Tx,
  context: Context,
  task: Task,
  reason: string | null,
): Promise<{ readonly task: Task; readonly ready: readonly Task[]; readonly completedGroups: readonly Group[] }> {
  const closed = close(task, reason, context.now);
  if (closed === task) return { task, ready: [], completedGroups: [] };
  await tx.tasks.update(closed);
  const data = { taskId: task.id, reason: closed.closeReason };
  await record(tx, context.now, { ...byCaller(context.caller, task.runId), type: "task_closed", data });
  return { task: closed, ...(await followClosing(tx, context, [task.id])) };
}

/** Unblocks tasks, completes groups and closes tasks of leads that waited for these tasks to be closed. */
export async function followClosing(
  tx: Tx,
  context: Context,
  closedIds: readonly string[],
): Promise<{ readonly ready: readonly Task[]; readonly completedGroups: readonly Group[] }> {
  const ready = [...(await unblockDependents(tx, context, closedIds))];
  const completedGroups = [...(await completeGroupsOf(tx, context, closedIds))];
  for (const task of await leadTasksOver(tx, closedIds)) {
    const above = await closeAndFollow(tx, context, task, "the tasks of its children are closed");
    ready.push(...above.ready);
    completedGroups.push(...above.completedGroups);
  }
  return { ready, completedGroups };
}

/** A lead's task is over when those of all its children are closed or were given up. */
export async function isLeadTaskOver(tx: Tx, lead: Agent): Promise<boolean> {
  for (const { taskId } of newestPerName(await tx.agents.list({ parentName: lead.name }))) {
    const task = taskId === null || taskId === lead.taskId ? undefined : await tx.tasks.get(taskId);
    if (task !== undefined && task.status !== "closed" && task.mergeState !== "abandoned") return false;
  }
  return true;
}

/** Tasks of leads that have finished and only waited for the tasks of their children to be closed. */
async function leadTasksOver(tx: Tx, closedIds: readonly string[]): Promise<readonly Task[]> {
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
