import type { Agent } from "../../../domain/agent/agent.ts";
import { isIn } from "../../../domain/agent/capability.ts";
import { engineCaller } from "../../../domain/caller/caller.ts";
import { payloadFields } from "../../../domain/mail/payload.ts";
import { isOpenMerge, mergeRef } from "../../../domain/merge/entry.ts";
import type { Tx } from "../../../ports/store.ts";
import type { Context } from "../../usecase.ts";
import { targetOf } from "../landing/landing-target.ts";
import { enqueueBranch } from "./enqueue.ts";

/**
 * Finished work of an agent whose parent is the operator: no agent will announce it, so it takes its place in the queue
 * and waits there for the operator's word. In the transaction that ends the agent.
 */
export async function askToLand(
  tx: Tx,
  context: Pick<Context, "ids" | "now" | "settings">,
  agent: Agent,
): Promise<void> {
  const { branch, headCommit, parentName, outcome, capability, runId, name, taskId } = agent;
  if (parentName !== "operator" || outcome !== "done" || !isIn("implementation", capability)) return;
  if (branch === null || headCommit === null || agent.ahead === 0) return;
  const known = await tx.merges.list({ branch });
  // What failed, or was taken out again, is announced again by the report of the agent that was called back for it.
  const isDecided = ({ headCommit: head, status }: (typeof known)[number]): boolean =>
    head === headCommit && status !== "failed" && status !== "conflict" && status !== "reverted";
  const decided = known.findLast(isDecided);
  if (decided !== undefined) {
    // Called back without anything new to land: it waits for the same word as before.
    if (isOpenMerge(decided) && decided.approval === "waiting") {
      await tx.waits.add({
        agentName: name,
        kind: "approval",
        ref: mergeRef(decided.id),
        since: context.now,
        deadline: null,
      });
    }
    return;
  }
  await enqueueBranch(
    tx,
    { ...context, caller: engineCaller },
    {
      branch,
      headCommit,
      targetBranch: await targetOf(tx, context, runId),
      taskId,
      agentName: name,
      runId,
      filesModified: await reportedFiles(tx, name, headCommit),
      source: "engine",
      enqueuedBy: name,
      asker: "other",
    },
  );
}

/**
 * The files that the engine has seen this commit change when the agent reported it. None when it reported nothing, or more
 * than a report names: the merge worker then asks git.
 */
export async function reportedFiles(tx: Tx, from: string, headCommit: string): Promise<readonly string[]> {
  for (const { payload } of await tx.messages.list({ from, type: "worker_done" })) {
    const { commit, filesModified, filesModifiedTotal, unverified } = payloadFields(payload);
    if (commit !== headCommit || unverified === true || !Array.isArray(filesModified)) continue;
    // A part of the list would hide where this branch meets another one.
    return filesModifiedTotal === undefined ? filesModified.map(String) : [];
  }
  return [];
}
