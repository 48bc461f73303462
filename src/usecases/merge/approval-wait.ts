import { hasEnded } from "../../domain/agent/agent.ts";
import { type MergeEntry, mergeRef } from "../../domain/merge/entry.ts";
import { approvalMail } from "../../domain/merge/outcome-mail.ts";
import type { Tx } from "../../ports/store.ts";
import { post } from "../mail/post.ts";
import type { Context } from "../usecase.ts";

/**
 * One decision for the operator: a message in their inbox, and a wait of the branch's agent and of the run's
 * coordinator, so that nobody takes them for stuck.
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
  await post(tx, context, {
    from: "system",
    fromAgentId: null,
    byEngine: true,
    runId: entry.runId,
    verified: true,
    address: "operator",
    recipients: [{ name: "operator", wake: false }],
    ...approvalMail(entry, why),
    type: "decision_gate",
    priority: "high",
  });
}

/** The decision was made, or nobody needs it any more. */
export async function endApprovalWait(tx: Tx, entry: Pick<MergeEntry, "id">): Promise<void> {
  await tx.waits.resolve("approval", mergeRef(entry.id));
}

/** Nobody waits for this entry any more; answers who did. */
export async function endMergeWaits(tx: Tx, entry: Pick<MergeEntry, "id">): Promise<readonly string[]> {
  await endApprovalWait(tx, entry);
  return tx.waits.resolve("merge", mergeRef(entry.id));
}

async function waitersOf(tx: Tx, { agentName, runId }: MergeEntry): Promise<readonly string[]> {
  const coordinator = runId === null ? null : ((await tx.runs.get(runId))?.coordinatorName ?? null);
  const names = new Set<string>();
  if (agentName !== null && (await tx.agents.byName(agentName)) !== undefined) names.add(agentName);
  const agent = coordinator === null ? undefined : await tx.agents.byName(coordinator);
  if (agent !== undefined && !hasEnded(agent)) names.add(agent.name);
  return [...names];
}
