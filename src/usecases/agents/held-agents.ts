import { type Agent, newestPerName } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { DeliveryState } from "../../domain/mail/types.ts";
import { isOpenMerge, openMergeStatuses } from "../../domain/merge/entry.ts";
import { isLastReviewer } from "../../domain/run/run.ts";
import type { Tx } from "../../ports/store.ts";

/** Has the agent commits on its branch that never landed and are not on their way? */
export async function landedNowhere(tx: Tx, { capability, ahead, branch }: Agent): Promise<boolean> {
  if (!isIn("implementation", capability) || ahead === 0 || branch === null) return false;
  const entries = await tx.merges.list({ branch });
  return !entries.some((entry) => isOpenMerge(entry) || entry.status === "merged" || entry.status === "reverted");
}

/**
 * Must a submitted agent stay? Yes while commits of it may still land, while its parent has not taken in its report,
 * and, for a lead, while it has unreleased children. The letter that ends a run has the report of its last reviewer.
 */
export async function holds(tx: Tx, agent: Agent): Promise<boolean> {
  if (await hasWorkToLand(tx, agent)) return true;
  const run = await tx.runs.get(agent.runId);
  if (run !== undefined && run.status !== "active" && isLastReviewer(run, agent)) return false;
  if (agent.parentName !== "operator" && !(await isReportIn(tx, agent, ["acked", "cancelled"]))) return true;
  return (await unreleasedChildren(tx, agent)).length > 0;
}

async function unreleasedChildren(tx: Tx, agent: Agent): Promise<readonly Agent[]> {
  if (agent.capability !== "lead") return [];
  const children = newestPerName(await tx.agents.list({ parentName: agent.name }));
  return children.filter((child) => child.state !== "zombie" && child.releasedAt === null);
}

/** Will the agent be released as soon as the turn that reads its report has ended? */
export async function goesAfterTurn(tx: Tx, agent: Agent): Promise<boolean> {
  if (agent.state !== "completed" || agent.outcome !== "done" || (await hasWorkToLand(tx, agent))) return false;
  if ((await unreleasedChildren(tx, agent)).length > 0) return false;
  return isReportIn(tx, agent, ["claimed", "delivered", "acked", "cancelled"]);
}

/** A branch in the queue, or commits that never were in it. What this incarnation asked for and got settled is settled. */
async function hasWorkToLand(tx: Tx, agent: Agent): Promise<boolean> {
  const entries = agent.branch === null ? [] : await tx.merges.list({ branch: agent.branch });
  if (entries.some(isOpenMerge)) return true;
  if (!isIn("implementation", agent.capability) || agent.ahead === 0) return false;
  const last = entries.at(-1);
  if (last === undefined) return true;
  // Called back after a failure, or because its work was taken out, the same agent has to announce its work once more.
  const isOut = last.status === "failed" || last.status === "conflict" || last.status === "reverted";
  return last.enqueuedAt < agent.startedAt && (isOut || last.headCommit !== agent.headCommit);
}

/** Is a branch of one of these agents on its way to land? */
export async function isAnyLanding(tx: Tx, agents: readonly Pick<Agent, "branch">[]): Promise<boolean> {
  for (const agent of agents) if (await isInQueue(tx, agent)) return true;
  return false;
}

/** Is the branch in the queue, where it may still land or come back? */
export async function isInQueue(tx: Tx, { branch }: Pick<Agent, "branch">): Promise<boolean> {
  return branch !== null && (await tx.merges.list({ branch, statuses: openMergeStatuses, limit: 1 })).length > 0;
}

async function isReportIn(tx: Tx, agent: Agent, states: readonly DeliveryState[]): Promise<boolean> {
  const turns = await tx.turns.listFor(agent.id);
  const report = turns.findLast((turn) => turn.terminalMessageSeq !== null)?.terminalMessageSeq;
  if (report == null) return false;
  const deliveries = await tx.deliveries.ofMessage(report);
  return deliveries.every(({ state }) => states.includes(state));
}
