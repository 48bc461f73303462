import type { Agent } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import { touched } from "../../domain/task/change.ts";
import { isCodeTask } from "../../domain/task/rights.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { closeAndFollow } from "../tasks/close-task.ts";
import { isLeadTaskOver } from "../tasks/lead-task.ts";
import type { Context } from "../usecase.ts";

export interface FinishedWork {
  readonly agent: Agent;
  /** There are commits to land. */
  readonly code: boolean;
  readonly summary: string;
}

/** What a verified completion means for the task: code waits for its landing, anything else is over. */
export async function settleTask(tx: Tx, context: Context, { agent, code, summary }: FinishedWork): Promise<void> {
  const task = agent.taskId === null ? undefined : await tx.tasks.get(agent.taskId);
  if (task === undefined || task.status === "closed") return;
  if (canonical(agent.capability) === "lead") {
    if (await isLeadTaskOver(tx, agent)) await closeAndFollow(tx, context, task, summary);
    else await tx.tasks.update({ ...touched(task, context.now), status: "in_review" });
    return;
  }
  if (isIn("implementation", agent.capability)) {
    if (code) await tx.tasks.update({ ...touched(task, context.now), status: "in_review", mergeState: "pending" });
    else await closeAndFollow(tx, context, { ...task, mergeState: "none" }, summary);
    return;
  }
  if (await isItsOwn(tx, agent, task)) await closeAndFollow(tx, context, task, summary);
}

/** Readers look at tasks without taking them: one that somebody else works on, or will land, is not theirs to end. */
async function isItsOwn(tx: Tx, agent: Agent, task: Task): Promise<boolean> {
  if (isCodeTask(task) || (task.claimedBy !== null && task.claimedBy !== agent.name)) return false;
  const others = await tx.agents.list({ taskId: task.id });
  return others.every(({ name }) => name === agent.name);
}
