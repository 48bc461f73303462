import type { Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { touched } from "../../domain/task/change.ts";
import { byUrgency, dependencyCycle, isUntaken, unblocked } from "../../domain/task/dependency.ts";
import type { Task, TaskDependency } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { openDependencies, tellOfDependency, tellOfEndedWait } from "./held-dependents.ts";
import { detailOf, findTask, type TaskDetail } from "./task-detail.ts";
import { findTaskFor } from "./team-tasks.ts";

export interface DependencyReply extends TaskDetail {
  /** False when it was so before. */
  readonly changed: boolean;
}

/** Makes one task wait for another. Refused when they would wait for each other in the end. */
export const addDependency = dependencyChange("task_dependency_added", async (tx, { taskId, dependsOn }) => {
  const before = await tx.tasks.dependenciesOf(taskId);
  if (before.some((other) => other.dependsOn === dependsOn)) return ok(false);
  const cycle = dependencyCycle([...(await tx.tasks.dependencies()), { taskId, dependsOn }], { from: taskId });
  if (cycle !== undefined) return no({ kind: "dependency-cycle", path: cycle });
  await tx.tasks.addDependency({ taskId, dependsOn });
  return ok(true);
});

/** Makes one task no longer wait for another. */
export const removeDependency = dependencyChange("task_dependency_removed", async (tx, { taskId, dependsOn }) =>
  ok(await tx.tasks.removeDependency({ taskId, dependsOn })),
);

/** `apply` answers whether it changed anything. */
function dependencyChange(
  event: "task_dependency_added" | "task_dependency_removed",
  apply: (tx: Tx, dependency: TaskDependency) => Promise<Result<boolean, Refusal>>,
): UseCase<TaskDependency, DependencyReply> {
  return {
    kind: "write",
    request: fields({ taskId: text, dependsOn: text }),
    run: async (tx, context, { taskId, dependsOn }) => {
      const ends = await findEnds(tx, context, { taskId, dependsOn });
      if (!ends.ok) return ends;
      const applied = await apply(tx, { taskId, dependsOn });
      if (!applied.ok) return applied;
      if (!applied.value) return ok({ ...(await detailOf(tx, ends.value.task)), changed: false });
      const reply = await recordChange(tx, context, ends.value, event);
      const { task, blocker } = ends.value;
      if (event === "task_dependency_added") await tellOfDependency(tx, context, task, blocker);
      else if (blocker.status !== "closed") await tellOfEndedWait(tx, context, task.id, blocker);
      return ok(reply);
    },
  };
}

interface Ends {
  readonly task: Task;
  readonly blocker: Task;
}

async function findEnds(tx: Tx, { caller }: Context, dependency: TaskDependency): Promise<Result<Ends, Refusal>> {
  const task = await findTaskFor(tx, caller, "change", dependency.taskId);
  if (!task.ok) return task;
  const blocker = await findTask(tx, dependency.dependsOn);
  return blocker.ok ? ok({ task: task.value, blocker: blocker.value }) : blocker;
}

/** Both lines of an exported file name the dependency, so both tasks count as changed. */
async function recordChange(
  tx: Tx,
  context: Context,
  { task, blocker }: Ends,
  type: "task_dependency_added" | "task_dependency_removed",
): Promise<DependencyReply> {
  const changed = touched(task, context.now);
  await tx.tasks.update(changed);
  await tx.tasks.update(touched(blocker, context.now));
  await record(tx, context.now, {
    ...byCaller(context.caller, task.runId),
    type,
    data: { taskId: task.id, dependsOn: blocker.id },
  });
  return { ...(await detailOf(tx, changed)), changed: true };
}

/** Opens tasks that waited for these closed ones. Returns every task that can be started now. */
export async function unblockDependents(
  tx: Tx,
  context: Context,
  closedIds: readonly string[],
): Promise<readonly Task[]> {
  const dependents = new Set<string>();
  for (const id of closedIds) {
    const closed = await tx.tasks.get(id);
    await tx.waits.resolve("task", id);
    for (const { taskId } of await tx.tasks.dependentsOf(id)) {
      dependents.add(taskId);
      if (closed !== undefined) await tellOfEndedWait(tx, context, taskId, closed);
    }
  }
  const ready: Task[] = [];
  for (const id of dependents) {
    const before = await tx.tasks.get(id);
    if (before === undefined || (await openDependencies(tx, id)).length > 0) continue;
    const task = unblocked(before, context.now);
    if (task !== before) {
      await tx.tasks.update(task);
      await record(tx, context.now, {
        ...byCaller(context.caller, task.runId),
        type: "task_unblocked",
        data: { taskId: id },
      });
    }
    if (isUntaken(task)) ready.push(task);
  }
  return ready.sort(byUrgency);
}
