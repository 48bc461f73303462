import { hasEnded } from "../../domain/agent/agent.ts";
import type { Group } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { post } from "../mail/post.ts";
import type { Context } from "../usecase.ts";

/** Tells the owner of a group that it is complete. It informs, so it wakes nobody. */
export async function notifyOwner(tx: Tx, context: Context, group: Group, memberIds: readonly string[]): Promise<void> {
  const count = memberIds.length === 1 ? "Its one task is" : `All its ${memberIds.length} tasks are`;
  await post(tx, context, {
    from: "system",
    fromAgentId: null,
    runId: group.runId,
    verified: true,
    address: group.owner,
    recipients: [{ name: await readerOf(tx, group.owner), wake: false }],
    subject: `Group complete: ${group.name}`,
    body: `${count} closed: ${memberIds.join(", ")}`,
    type: "status",
    priority: "normal",
    payload: JSON.stringify({ groupId: group.id, groupName: group.name, taskIds: memberIds }),
  });
}

/** The owner while it lives, else its nearest live ancestor; the operator reads what nobody else is left to read. */
async function readerOf(tx: Tx, owner: string): Promise<string> {
  const visited = new Set<string>();
  let name = owner;
  while (name !== "operator" && !visited.has(name)) {
    visited.add(name);
    const agent = await tx.agents.byName(name);
    if (agent === undefined) break;
    if (!hasEnded(agent)) return name;
    name = agent.parentName;
  }
  return "operator";
}
