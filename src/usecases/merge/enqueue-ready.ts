import { payloadFields } from "../../domain/mail/payload.ts";
import type { Message } from "../../domain/mail/types.ts";
import type { Tx } from "../../ports/store.ts";
import type { Sender } from "../mail/sender.ts";
import type { Context } from "../usecase.ts";
import { askerFor, ownerOfBranch } from "./branch-owner.ts";
import { enqueueBranch } from "./enqueue.ts";
import { targetOf } from "./landing-target.ts";

/**
 * What follows from a `merge_ready`, in the transaction that stores it. Whose branch and task it is says the record of
 * the agent, not the message: otherwise one branch could land in the name of another. A branch nobody knows is queued
 * all the same; whoever works on it answers the sender.
 */
export async function enqueueReady(tx: Tx, context: Context, sender: Sender, message: Message): Promise<void> {
  const { branch, taskId, agentName, filesModified } = payloadFields(message.payload);
  if (typeof branch !== "string") return;
  const owner = await ownerOfBranch(tx, branch);
  const runId = owner?.runId ?? message.runId;
  const byAgent = sender.agent?.name ?? null;
  await enqueueBranch(tx, context, {
    branch,
    headCommit: owner?.headCommit ?? "",
    targetBranch: await targetOf(tx, context, runId),
    taskId: owner === undefined ? textOr(taskId, null) : owner.taskId,
    agentName: owner === undefined ? textOr(agentName, null) : owner.name,
    runId,
    filesModified: Array.isArray(filesModified) ? filesModified.map(String) : [],
    source: "mail",
    enqueuedBy: sender.name,
    asker:
      byAgent === null ? (sender.origin === "operator" ? "operator" : "other") : await askerFor(tx, owner, byAgent),
    waiter: byAgent,
  });
}

const textOr = (value: unknown, otherwise: null): string | null => (typeof value === "string" ? value : otherwise);
