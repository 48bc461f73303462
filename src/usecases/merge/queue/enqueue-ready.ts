import type { Agent } from "../../../domain/agent/agent.ts";
import { isIn } from "../../../domain/agent/capability.ts";
import { payloadFields } from "../../../domain/mail/payload.ts";
import type { Message } from "../../../domain/mail/types.ts";
import { invalid, type Refusal } from "../../../domain/refusal.ts";
import type { Tx } from "../../../ports/store.ts";
import { workUnderReview } from "../../completions/role-facts.ts";
import type { Announced, Follower } from "../../mail/followers.ts";
import type { Sender } from "../../mail/sender.ts";
import type { Context } from "../../usecase.ts";
import { askerFor, ownerOfBranch } from "../branch-owner.ts";
import { targetOf } from "../landing/landing-target.ts";
import { notify } from "../notify.ts";
import { reportedFiles } from "./ask-to-land.ts";
import { enqueueBranch, whyLanded } from "./enqueue.ts";

export const mergeReady: Follower = { refuse: refuseIdle, follow: enqueueReady };

/**
 * Refuses to announce a branch that does not exist, and a commit that has landed already: every landing is told to the
 * sender, and a sender that answers with the same announcement would go on for ever.
 */
async function refuseIdle(
  tx: Tx,
  context: Context,
  sender: Sender,
  { payload, head }: Announced,
): Promise<Refusal | undefined> {
  const { branch } = payloadFields(payload);
  if (typeof branch !== "string") return undefined;
  const owner = await ownerOfBranch(tx, branch);
  if (owner === undefined && head === null) {
    return invalid("payload.branch", "is no branch of this project; nothing was sent or queued", { value: branch });
  }
  const headCommit = owner?.headCommit ?? head;
  if (headCommit == null) return undefined;
  const targetBranch = await targetOf(tx, context, owner?.runId ?? sender.known?.runId ?? null);
  const why = await whyLanded(tx, { branch, targetBranch, headCommit });
  return why === undefined ? undefined : invalid("payload.branch", why, { value: branch });
}

/**
 * Queues the branch of a `merge_ready`, in the transaction that stores the message. The record of the agent says whose
 * branch and task it is, not the message: otherwise one branch could land in the name of another. Git says which commit
 * it is and which files it changes, because the operator decides about the commit that is shown. A branch without an
 * agent has no task, unless the operator names one.
 */
async function enqueueReady(
  tx: Tx,
  context: Context,
  sender: Sender,
  message: Message,
  head: Announced["head"],
): Promise<void> {
  const { branch, taskId, agentName } = payloadFields(message.payload);
  if (typeof branch !== "string") return;
  const owner = await ownerOfBranch(tx, branch);
  if (owner !== undefined && isIn("readOnly", owner.capability)) {
    return answerThatItOnlyReads(tx, context, sender.name, { ...owner, branch });
  }
  const runId = owner?.runId ?? message.runId;
  const byAgent = sender.agent?.name ?? null;
  const said = (value: unknown): string | null =>
    sender.origin === "operator" && typeof value === "string" ? value : null;
  const headCommit = owner?.headCommit ?? head ?? "";
  await enqueueBranch(tx, context, {
    branch,
    headCommit,
    targetBranch: await targetOf(tx, context, runId),
    taskId: owner === undefined ? said(taskId) : owner.taskId,
    agentName: owner === undefined ? said(agentName) : owner.name,
    runId,
    filesModified: owner === undefined ? [] : await reportedFiles(tx, owner.name, headCommit),
    source: "mail",
    enqueuedBy: sender.name,
    asker:
      byAgent === null ? (sender.origin === "operator" ? "operator" : "other") : await askerFor(tx, owner, byAgent),
    waiter: byAgent,
  });
}

/** A reviewer's branch starts from the branch it judges: landing it would land that work without its owner's parent. */
async function answerThatItOnlyReads(
  tx: Tx,
  context: Context,
  sender: string,
  reader: Agent & { readonly branch: string },
): Promise<void> {
  const { name, branch, capability, runId } = reader;
  const why = `${branch} belongs to the ${capability} ${name}, who has nothing to land`;
  const judged = capability === "reviewer" ? (await workUnderReview(tx, reader))?.branch : undefined;
  const next = judged == null ? "Announce the branch of whoever wrote the code." : `Did you mean ${judged}?`;
  await notify(tx, context, [sender], {
    type: "merge_failed",
    priority: "high",
    runId,
    subject: `merge refused: ${branch}`,
    body: `${why}; it was not queued. ${next}`,
    payload: JSON.stringify({ branch, conflictFiles: [], errorMessage: why }),
  });
}
