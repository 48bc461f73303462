import type { Agent } from "../../domain/agent/agent.ts";
import type { Missing, StoredCheck } from "../../domain/completion/check.ts";
import { payloadFields } from "../../domain/mail/payload.ts";
import { verdicts } from "../../domain/mail/payload-shapes.ts";
import type { Tx } from "../../ports/store.ts";
import { completionReceipt } from "../merge/branch-owner.ts";

/** A review that asked for changes of a commit, which is still the newest of its branch. */
export interface UnmendedReview {
  readonly reviewer: string;
  readonly commit: string;
  readonly at: number;
}

/**
 * The last review of an agent's branch, if it sent exactly this commit back. A reviewer's verdict names the commit. A
 * verdict that a lead wrote by hand is about the commit reported before it.
 */
export async function unmendedReview(
  tx: Tx,
  agent: Pick<Agent, "name" | "generation" | "branch" | "runId">,
  head: string,
): Promise<UnmendedReview | undefined> {
  const newestFirst = (await tx.messages.list({ type: "review", runId: agent.runId })).toSorted(
    (a, b) => b.seq - a.seq,
  );
  for (const { payload, fromAgent, createdAt } of newestFirst) {
    const { branch, verdict, commit } = payloadFields(payload);
    if (branch !== agent.branch || !verdicts.some((known) => known === verdict)) continue;
    if (verdict === "pass") return undefined;
    const reported = await completionReceipt(tx, agent, head);
    const isThis = typeof commit === "string" ? commit === head : (reported?.createdAt ?? createdAt + 1) <= createdAt;
    return isThis ? { reviewer: fromAgent, commit: head, at: createdAt } : undefined;
  }
  return undefined;
}

/** Said once for each review: the agent may be right about a finding. Its parent then reads that nothing was changed. */
export async function tellUnmended(
  tx: Tx,
  { agentId, agentName, requestedBy }: StoredCheck,
  { reviewer, commit, at }: UnmendedReview,
): Promise<readonly Missing[]> {
  if (requestedBy !== agentName) return [];
  const since = (await tx.checks.completionsOf(agentId ?? "")).filter(({ createdAt }) => createdAt >= at);
  if (since.some(({ problem }) => problem.some(({ kind }) => kind === "unmended"))) return [];
  return [
    {
      kind: "unmended",
      message: `${reviewer} asked for changes of exactly this commit, ${commit.slice(0, 10)}: there is no newer one on your branch`,
      fix: "mend each finding, commit, and run ov done again. If the findings are wrong, say why in the summary and run ov done again as it is: this is said once",
      names: [reviewer],
    },
  ];
}

/** The same for the agent that decides about the branch. */
export const unmendedGap = ({ reviewer, commit }: UnmendedReview): string =>
  `${reviewer} asked for changes of this very commit, ${commit.slice(0, 10)}, and nothing was changed since`;
