import { hasEnded } from "../../domain/agent/agent.ts";
import { nearest } from "../../domain/name/nearest.ts";
import { notFound, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import type { TaskCriterion } from "../../domain/run/checklist.ts";
import { list, orNull, text, whole } from "../../domain/schema/schema.ts";
import { Dependencies, readyTasks } from "../../domain/task/dependency.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";

/** A task with its place among the others. */
export interface TaskDetail {
  readonly task: Task;
  /** Tasks that it depends on, closed ones included. */
  readonly blockedBy: readonly string[];
  /** Those of them that are not closed. While there are any, the task cannot be claimed. */
  readonly waitsFor: readonly string[];
  /** What waits for it. */
  readonly blocks: readonly string[];
  /** The criteria of its run that it serves. */
  readonly criteria: readonly ServedCriterion[];
}

export interface ServedCriterion {
  readonly number: number;
  readonly text: string;
}

/** The fields beside the title that may be set when a task is created or changed. */
export const taskFields = {
  type: text,
  priority: whole,
  description: orNull(text),
  assignee: orNull(text),
  labels: list(text),
  files: list(text),
  shares: list(text),
  criteria: list(whole),
  parentId: orNull(text),
} as const;

export async function detailOf(tx: Tx, task: Task): Promise<TaskDetail> {
  const blockedBy = await tx.tasks.dependenciesOf(task.id);
  const blocks = await tx.tasks.dependentsOf(task.id);
  const waitsFor: string[] = [];
  for (const { dependsOn } of blockedBy) {
    if ((await tx.tasks.get(dependsOn))?.status !== "closed") waitsFor.push(dependsOn);
  }
  return {
    task,
    blockedBy: blockedBy.map(({ dependsOn }) => dependsOn),
    waitsFor,
    blocks: blocks.map(({ taskId }) => taskId),
    criteria: await criteriaOf(tx, await tx.criteria.ofTask(task.id)),
  };
}

async function criteriaOf(tx: Tx, served: readonly TaskCriterion[]): Promise<readonly ServedCriterion[]> {
  const [first] = served;
  if (first === undefined) return [];
  const numbers = new Set(served.map(({ number }) => number));
  const criteria = await tx.criteria.of(first.runId);
  return criteria
    .filter(({ number }) => numbers.has(number))
    .map(({ number, text: words }) => ({ number, text: words }));
}

/** The tasks that are not closed, and those of them that could be started now. Closed ones are read where one waits for them. */
export async function unclosedTasks(
  tx: Tx,
): Promise<{ readonly unclosed: readonly Task[]; readonly ready: readonly Task[] }> {
  const unclosed = await tx.tasks.list({ unclosed: true });
  const known = new Set(unclosed.map(({ id }) => id));
  const dependencies = (await tx.tasks.dependencies()).filter(({ taskId }) => known.has(taskId));
  const others = new Set(dependencies.map(({ dependsOn }) => dependsOn).filter((id) => !known.has(id)));
  const settled: Task[] = [];
  for (const id of others) {
    const task = await tx.tasks.get(id);
    if (task !== undefined) settled.push(task);
  }
  return { unclosed, ready: readyTasks([...unclosed, ...settled], dependencies) };
}

/** The same for many, in their order, with one query. */
export async function detailsOf(tx: Tx, tasks: readonly Task[]): Promise<readonly TaskDetail[]> {
  if (tasks.length === 0) return [];
  const index = new Dependencies(await tx.tasks.dependencies());
  const open = new Set((await tx.tasks.list({ unclosed: true })).map(({ id }) => id));
  const served = Map.groupBy(await tx.criteria.all(), ({ taskId }) => taskId);
  const details: TaskDetail[] = [];
  for (const task of tasks) {
    const blockedBy = index.blockedBy(task.id);
    const waitsFor = blockedBy.filter((id) => open.has(id));
    const criteria = await criteriaOf(tx, served.get(task.id) ?? []);
    details.push({ task, blockedBy, waitsFor, blocks: index.blocks(task.id), criteria });
  }
  return details;
}

/**
 * The name that decides when a task is started: the live lead whose task it is part of, else the coordinator of its run.
 * Null where the operator alone decides.
 */
export async function ownerOfTask(tx: Tx, task: Pick<Task, "parentId" | "runId">): Promise<string | null> {
  const visited = new Set<string>();
  for (let id = task.parentId; id !== null && !visited.has(id); ) {
    visited.add(id);
    const above = await tx.tasks.get(id);
    const holder = above?.claimedBy == null ? undefined : await tx.agents.byName(above.claimedBy);
    if (holder !== undefined && !hasEnded(holder)) return holder.name;
    id = above?.parentId ?? null;
  }
  return task.runId === null ? null : ((await tx.runs.get(task.runId))?.coordinatorName ?? null);
}

/** The tasks that can be started now, by the name that decides about each. */
export async function readyByOwner(
  tx: Tx,
  ready: readonly Task[],
  otherwise: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const owners = new Map<string, readonly string[]>();
  for (const task of ready) {
    const name = (await ownerOfTask(tx, task)) ?? otherwise;
    owners.set(name, [...(owners.get(name) ?? []), task.id]);
  }
  return owners;
}

/** The task, or a refusal that names the id the caller most likely meant. */
export async function findTask(tx: Tx, id: string): Promise<Result<Task, Refusal>> {
  const task = await tx.tasks.get(id);
  return task === undefined ? no(notFound("task", id, nearest(id, await tx.tasks.ids()))) : ok(task);
}
