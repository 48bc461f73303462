import { hasEnded } from "../../domain/agent/agent.ts";
import { type MergeEntry, mergeRef } from "../../domain/merge/entry.ts";
import { approvalMail, mergeAsked } from "../../domain/merge/outcome-mail.ts";
import type { Tx } from "../../ports/store.ts";
import { isBelow } from "../agents/subordinate.ts";
import { tellOperator } from "../mail/post.ts";
import { markRead } from "../mail/read.ts";
import type { Context } from "../usecase.ts";
import { doubtsAbout } from "./branch-owner.ts";

/**
 * Asks the operator for one decision: sends a message to the inbox, and makes the branch's agent and the coordinator
 * above it wait, so that the watchdog does not take them for stuck.
 */
export async function askForApproval(
  tx: Tx,
  context: Pick<Context, "ids" | "now">,
  entry: MergeEntry,
  why: string,
): Promise<void> {
  const ref = mergeRef(entry.id);
  for (const agentName of await waitersOf(tx, entry)) {
    await tx.waits.add({ agentName, kind: "approval", ref, since: context.now, deadline: null });
  }
  await tellOperator(tx, context, {
    runId: entry.runId,
    ...approvalMail(entry, why, await doubtsAbout(tx, entry)),
    type: "decision_gate",
    priority: "high",
  });
}

/** Ends the wait for an approval that was given or is not needed any more, and marks the message that asked as read. */
export async function endApprovalWait(tx: Tx, entry: Pick<MergeEntry, "id" | "runId">, now: number): Promise<void> {
  await tx.waits.resolve("approval", mergeRef(entry.id));
  const inRun = entry.runId === null ? {} : { runId: entry.runId };
  for (const message of await tx.messages.list({ to: "operator", type: "decision_gate", unread: true, ...inRun })) {
    if (mergeAsked(message) === entry.id) await markRead(tx, now, message, "operator");
  }
}

/** Nobody waits for this entry any more; answers who did. */
export async function endMergeWaits(
  tx: Tx,
  entry: Pick<MergeEntry, "id" | "runId">,
  now: number,
): Promise<readonly string[]> {
  await endApprovalWait(tx, entry, now);
  return tx.waits.resolve("merge", mergeRef(entry.id));
}

async function waitersOf(tx: Tx, { agentName, runId, enqueuedBy }: MergeEntry): Promise<readonly string[]> {
  const coordinator = runId === null ? null : ((await tx.runs.get(runId))?.coordinatorName ?? null);
  const names = new Set<string>();
  const owner = agentName === null ? undefined : await tx.agents.byName(agentName);
  if (owner !== undefined) names.add(owner.name);
  const head = coordinator === null ? undefined : await tx.agents.byName(coordinator);
  if (head === undefined || hasEnded(head)) return [...names];
  const isItsTeams = owner === undefined ? enqueuedBy === head.name : await isBelow(tx, owner, head.name);
  if (isItsTeams) names.add(head.name);
  return [...names];
}
