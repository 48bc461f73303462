import type { Caller } from "../../domain/caller/caller.ts";
import { invalid, notFound, type Refusal } from "../../domain/refusal.ts";
import {
  type Criterion,
  checklistOf,
  type LastReviewFacts,
  type ShownStatus,
  statusAfterReview,
  type TaskCriterion,
  unserved,
} from "../../domain/run/checklist.ts";
import type { Run } from "../../domain/run/run.ts";
import { isDropped } from "../../domain/task/change.ts";
import type { Tx } from "../../ports/store.ts";
import { lastReviewers } from "./verdict-on-whole.ts";

export interface CriterionDetail {
  readonly criterion: Criterion;
  readonly status: ShownStatus;
  /** Tasks that serve it, dropped ones left out. */
  readonly tasks: readonly string[];
}

export const detailsOf = (
  criteria: readonly Criterion[],
  tasks: readonly TaskCriterion[],
  review: LastReviewFacts | null,
): readonly CriterionDetail[] =>
  criteria.map((criterion) => ({
    criterion,
    status: statusAfterReview(criterion, review),
    tasks: tasks.filter(({ number }) => number === criterion.number).map(({ taskId }) => taskId),
  }));

/**
 * The checklist of a run, and which of its tasks serve what. A task that was given up serves nothing, and a last review
 * reads what others did.
 */
export async function checklist(
  tx: Tx,
  run: Run,
): Promise<{ readonly criteria: readonly Criterion[]; readonly tasks: readonly TaskCriterion[] }> {
  const criteria = checklistOf(run, await tx.criteria.of(run.id));
  const tasks: TaskCriterion[] = [];
  const all = criteria.length === 0 ? [] : await tx.criteria.tasksOf(run.id);
  const reviews = new Set(all.length === 0 ? [] : (await lastReviewers(tx, run)).map(({ taskId }) => taskId));
  for (const served of all) {
    const task = await tx.tasks.get(served.taskId);
    if (task !== undefined && !isDropped(task) && !reviews.has(task.id)) tasks.push(served);
  }
  return { criteria, tasks };
}

/** Stores the objective that was not split as criterion 1, because something is said about it or beside it. */
export async function keepObjective(tx: Tx, run: Run): Promise<void> {
  if ((await tx.criteria.of(run.id)).length > 0) return;
  for (const objective of checklistOf(run, [])) await tx.criteria.put(objective);
}

/** Criteria that a task is said to serve. An objective that is not split has no parts, but may be served as a whole. */
export async function serveCriteria(
  tx: Tx,
  taskId: string,
  runId: string | null,
  numbers: readonly number[],
): Promise<Refusal | undefined> {
  const run = runId === null ? undefined : await tx.runs.get(runId);
  if (runId === null || run === undefined) return invalid("criteria", "belong to a run, and this task has none");
  if (numbers.length > 0) await keepObjective(tx, run);
  const known = (await tx.criteria.of(runId)).map(({ number }) => number);
  const unknown = numbers.find((number) => !known.includes(number));
  if (unknown !== undefined) {
    const there = known.length === 1 ? `there is ${known.join()}` : `there are ${known.join(", ")}`;
    const advice = known.length === 0 ? 'add it: ov run criteria add "<criterion>"' : there;
    return { ...notFound("criterion", String(unknown)), advice };
  }
  await tx.criteria.serve(taskId, runId, numbers);
  return undefined;
}

/** What the planner of a run is told: criteria that no task serves yet. */
export async function planningWords(tx: Tx, caller: Caller, runId: string | null): Promise<readonly string[]> {
  const run = runId === null ? undefined : await tx.runs.get(runId);
  const plans = caller.kind !== "agent" || caller.capability === "coordinator";
  if (run === undefined || !plans) return [];
  const { criteria, tasks } = await checklist(tx, run);
  if (criteria.length === 0) return [];
  if ((await tx.criteria.of(run.id)).length === 0) {
    return ['The objective is not split yet: ov run criteria add "<criterion>" "<criterion>"'];
  }
  const without = unserved(criteria, tasks);
  if (without.length === 0) return [];
  const names = without.map(({ number, text: words }) => `${number} (${clipped(words)})`);
  return [`No task serves yet: criterion ${names.join(", ")}. Name them with --criteria <n> (tool: criteria)`];
}

const clipped = (words: string): string => (words.length > 80 ? `${words.slice(0, 79)}…` : words);
