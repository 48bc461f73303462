import { type Agent, hasEnded } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { isDropped } from "../../domain/task/change.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { fromCaller, fromEngine, post } from "../mail/post.ts";
import type { Context } from "../usecase.ts";

/** Ids of what the task waits for that is not closed. */
export async function openDependencies(tx: Tx, taskId: string): Promise<readonly string[]> {
  const open: string[] = [];
  for (const { dependsOn } of await tx.tasks.dependenciesOf(taskId)) {
    if ((await tx.tasks.get(dependsOn))?.status !== "closed") open.push(dependsOn);
  }
  return open;
}

/** The live agent that works on this task. */
async function workerOn(tx: Tx, { claimedBy }: Pick<Task, "claimedBy">): Promise<Agent | undefined> {
  const agent = claimedBy === null ? undefined : await tx.agents.byName(claimedBy);
  return agent === undefined || hasEnded(agent) ? undefined : agent;
}

/**
 * An agent that ends its turn while its task waits for others is idle on purpose: it is told when they are closed. A
 * task may begin to wait after its agent began.
 */
export async function waitForOpenTasks(tx: Tx, agent: Agent, now: number): Promise<void> {
  const task =
    agent.taskId === null || isIn("persistent", agent.capability) ? undefined : await tx.tasks.get(agent.taskId);
  if (task?.claimedBy !== agent.name) return;
  for (const ref of await openDependencies(tx, task.id)) {
    await tx.waits.add({ agentName: agent.name, kind: "task", ref, since: now, deadline: null });
  }
}

/** Tells the agent of a task what its task waits for from now on. It decides whether it can go on without that. */
export async function tellOfDependency(tx: Tx, context: Context, task: Task, blocker: Task): Promise<void> {
  const worker = blocker.status === "closed" ? undefined : await workerOn(tx, task);
  if (worker === undefined || worker.name === context.caller.name) return;
  await post(tx, context, {
    ...fromCaller(context.caller),
    runId: worker.runId,
    address: worker.name,
    recipients: [{ name: worker.name, wake: false }],
    subject: `your task waits for ${blocker.id} now`,
    body: `Your task depends on ${blocker.id}: ${blocker.title}\nDo what you can without it, then end your turn. You are told when it is closed.`,
    type: "status",
    priority: "normal",
  });
}

/** What follows for the agent of a task that waits for this one no longer. Without anything else to wait for it goes on. */
export async function tellOfEndedWait(tx: Tx, context: Context, taskId: string, blocker: Task): Promise<void> {
  const task = await tx.tasks.get(taskId);
  const worker = task === undefined || task.status === "closed" ? undefined : await workerOn(tx, task);
  if (worker === undefined) return;
  await tx.waits.remove(worker.name, "task", blocker.id);
  const left = await openDependencies(tx, taskId);
  await post(tx, context, {
    ...fromEngine,
    runId: worker.runId,
    address: worker.name,
    recipients: [{ name: worker.name, wake: left.length === 0, reason: "what its task waited for is over" }],
    subject: `your task waits for ${blocker.id} no longer`,
    body: [`${blocker.id} ${howItEnded(blocker)}: ${blocker.title}`, ...next(worker, blocker, left)].join("\n"),
    type: "status",
    priority: "normal",
  });
}

function howItEnded(blocker: Task): string {
  if (blocker.status !== "closed") return "is not needed for your task any more";
  if (isDropped(blocker)) return "was dropped, and will not come";
  return blocker.mergeState === "merged" ? "has landed" : "is closed";
}

function next({ baseRef, branch }: Agent, blocker: Task, left: readonly string[]): readonly string[] {
  const hasCode = blocker.status === "closed" && blocker.mergeState === "merged";
  const take = hasCode && baseRef !== null && branch !== null ? [`To have its code: git merge --ff ${baseRef}`] : [];
  return left.length === 0 ? take : [...take, `Your task still waits for ${left.join(", ")}.`];
}
