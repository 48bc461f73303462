import type { Group } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { nearestLiveAncestor } from "../mail/hand-on.ts";
import { post } from "../mail/post.ts";
import type { Context } from "../usecase.ts";

/**
 * Tells the owner of a group, or the nearest above it that lives, that the group is complete. It informs, so it wakes
 * nobody.
 */
export async function notifyOwner(tx: Tx, context: Context, group: Group, memberIds: readonly string[]): Promise<void> {
  const count = memberIds.length === 1 ? "Its one task is" : `All its ${memberIds.length} tasks are`;
  await post(tx, context, {
    from: "system",
    fromAgentId: null,
    runId: group.runId,
    verified: true,
    address: group.owner,
    recipients: [{ name: await nearestLiveAncestor(tx, group.owner), wake: false }],
    subject: `Group complete: ${group.name}`,
    body: `${count} closed: ${memberIds.join(", ")}`,
    type: "status",
    priority: "normal",
    payload: JSON.stringify({ groupId: group.id, groupName: group.name, taskIds: memberIds }),
  });
}
