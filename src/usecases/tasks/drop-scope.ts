import { type Agent, newestPerName } from "../../domain/agent/agent.ts";
import { canonical, isIn } from "../../domain/agent/capability.ts";
import type { Caller } from "../../domain/caller/caller.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { isDropped } from "../../domain/task/change.ts";
import { forbidden } from "../../domain/task/rights.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { isBelow, readsTheWhole, whyNotTheLastReviewer } from "../agents/find-agent.ts";

interface WhatGoes {
  /** The named task first. Closed ones are listed only if they were dropped before. */
  readonly tasks: readonly Task[];
  /** Agents that work on them and are not released, the lowest first. */
  readonly agents: readonly Agent[];
}

/** The task with its parts, its agents with all agents below them, the tasks of those, and so on. */
export async function whatGoes(
  tx: Tx,
  root: Task,
  { withDependents }: { readonly withDependents: boolean },
): Promise<WhatGoes> {
  const all = await tx.tasks.list({});
  const tasks = new Map<string, Task>();
  const agents = new Map<string, Agent>();
  const next = [root.id];
  for (let id = next.shift(); id !== undefined; id = next.shift()) {
    const task = tasks.has(id) ? undefined : await tx.tasks.get(id);
    if (task === undefined || (task.status === "closed" && !isDropped(task))) continue;
    tasks.set(id, task);
    next.push(...all.filter(({ parentId }) => parentId === id).map((part) => part.id));
    if (withDependents) next.push(...(await tx.tasks.dependentsOf(id)).map(({ taskId }) => taskId));
    for (const agent of newestPerName(await tx.agents.list({ taskId: id }))) await take(agent);
  }
  return { tasks: [...tasks.values()], agents: [...agents.values()].sort((a, b) => b.depth - a.depth) };

  /**
   * Agents below a released one are left out: its name may lead another task by now. Those whose task was dropped go: a drop
   * that is repeated finds agents again that are still to be ended.
   */
  async function take(agent: Agent): Promise<void> {
    if (agents.has(agent.name)) return;
    if (agent.releasedAt === null) {
      agents.set(agent.name, agent);
      if (agent.taskId !== null) next.push(agent.taskId);
    }
    for (const child of newestPerName(await tx.agents.list({ parentName: agent.name }))) {
      if (agent.releasedAt === null || (await worksOnDropped(tx, child))) await take(child);
    }
  }
}

async function worksOnDropped(tx: Tx, { taskId, releasedAt }: Agent): Promise<boolean> {
  const task = taskId === null || releasedAt !== null ? undefined : await tx.tasks.get(taskId);
  return task !== undefined && isDropped(task);
}

/**
 * Agents drop their own tasks only: a coordinator tasks of its run, a lead its parts and the tasks of agents below it.
 * Neither stops an agent that works for another parent, such as one that the operator slung into the run.
 */
export async function forbiddenToDrop(
  tx: Tx,
  caller: Caller,
  root: Task,
  tasks: readonly Task[],
  agents: readonly Agent[],
): Promise<Refusal | undefined> {
  const head = agents.find(({ capability }) => isIn("persistent", capability));
  if (head !== undefined) {
    const problem = `is worked on by the ${head.capability} ${head.name}; end that first: ov stop ${head.name}`;
    return invalid("task", problem, { value: head.taskId ?? root.id });
  }
  if (caller.kind !== "agent") return undefined;
  const refused = forbidden(caller, "drop", root);
  if (refused !== undefined) return refused;
  const deny = (why: string): Refusal => ({
    kind: "not-allowed",
    action: `drop task ${root.id}`,
    caller: caller.name,
    why,
  });
  if (agents.some(({ name }) => name === caller.name)) {
    return deny("an agent does not drop the task that it works on; finish without code and say why");
  }
  for (const agent of agents) {
    if (!(await isBelow(tx, agent, caller.name))) return deny(`${agent.name}, which works on it, is not below it`);
    if (await readsTheWhole(tx, agent)) return deny(whyNotTheLastReviewer);
  }
  if (canonical(caller.capability) === "coordinator") {
    const foreign = tasks.find(({ runId }) => runId !== null && runId !== caller.runId);
    return foreign === undefined ? undefined : deny(`${foreign.id} belongs to another run`);
  }
  for (const task of tasks) {
    if (!(await isPartOf(tx, task, caller))) return deny(`${task.id} is no part of its own task`);
  }
  return undefined;
}

/** Is it below the caller's task, or was it given to an agent below the caller? */
async function isPartOf(tx: Tx, task: Task, caller: Extract<Caller, { kind: "agent" }>): Promise<boolean> {
  const seen = new Set<string>();
  for (let one: Task | undefined = task; one !== undefined && !seen.has(one.id); ) {
    seen.add(one.id);
    if (one.parentId !== null && one.parentId === caller.taskId) return true;
    one = one.parentId === null ? undefined : await tx.tasks.get(one.parentId);
  }
  for (const agent of newestPerName(await tx.agents.list({ taskId: task.id }))) {
    if (await isBelow(tx, agent, caller.name)) return true;
  }
  return false;
}
