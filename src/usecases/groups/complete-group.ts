import { type GroupProgress, groupProgress, isDone } from "../../domain/task/group.ts";
import type { Group, TaskStatus } from "../../domain/task/task.ts";
import { namedIn } from "../../domain/text/long-list.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { fromEngine, post } from "../mail/post.ts";
import type { Context } from "../usecase.ts";

/** Completes every active group whose last open member was among these tasks, and tells its owner. */
export async function completeGroupsOf(
  tx: Tx,
  context: Context,
  closedIds: readonly string[],
): Promise<readonly Group[]> {
  const completed: Group[] = [];
  for (const taskId of closedIds) {
    for (const group of await tx.groups.activeWith(taskId)) {
      const after = await completeIfDone(tx, context, group);
      if (after.status === "completed") completed.push(after);
    }
  }
  return completed;
}

/** The group as it is afterwards. A completed group stays as it is and is not announced again. */
export async function completeIfDone(tx: Tx, context: Context, group: Group): Promise<Group> {
  if (group.status === "completed") return group;
  const memberIds = await tx.groups.members(group.id);
  if (!isDone(await progressOf(tx, memberIds))) return group;
  await tx.groups.setStatus(group.id, "completed", context.now);
  const data = { groupId: group.id, name: group.name };
  await record(tx, context.now, { ...byCaller(context.caller, group.runId), type: "group_completed", data });
  await notifyOwner(tx, context, group, memberIds);
  return { ...group, status: "completed", completedAt: context.now };
}

/** Completed groups of tasks that are open again are active again. */
export async function resumeGroupsOf(tx: Tx, context: Context, taskIds: readonly string[]): Promise<void> {
  for (const taskId of taskIds) {
    for (const group of await tx.groups.completedWith(taskId)) await resume(tx, context, group);
  }
}

/** Makes the group active again; its earlier state does not matter. */
export async function resume(tx: Tx, context: Context, group: Group): Promise<Group> {
  if (group.status === "active") return group;
  await tx.groups.setStatus(group.id, "active", null);
  const data = { groupId: group.id, name: group.name };
  await record(tx, context.now, { ...byCaller(context.caller, group.runId), type: "group_resumed", data });
  return { ...group, status: "active", completedAt: null };
}

export async function progressOf(tx: Tx, memberIds: readonly string[]): Promise<GroupProgress> {
  const statuses: (TaskStatus | undefined)[] = [];
  for (const id of memberIds) statuses.push((await tx.tasks.get(id))?.status);
  return groupProgress(statuses);
}

/**
 * Tells the owner of a group, or the nearest above it that lives, that the group is complete. It informs, so it wakes
 * no agent.
 */
async function notifyOwner(tx: Tx, context: Context, group: Group, memberIds: readonly string[]): Promise<void> {
  const count = memberIds.length === 1 ? "Its one task is" : `All its ${memberIds.length} tasks are`;
  await post(tx, context, {
    ...fromEngine,
    runId: group.runId,
    address: group.owner,
    recipients: [{ name: await nearestLiveAncestor(tx, group.owner), wake: false }],
    subject: `Group complete: ${group.name}`,
    body: `${count} closed: ${namedIn(memberIds)}`,
    type: "status",
    priority: "normal",
    payload: JSON.stringify({ groupId: group.id, groupName: group.name, taskIds: memberIds }),
  });
}
