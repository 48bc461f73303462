import { taskId } from "../../domain/name/name.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, list, text } from "../../domain/schema/schema.ts";
import { newTask } from "../../domain/task/change.ts";
import type { TaskFields } from "../../domain/task/fields.ts";
import { taskPrefix } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { detailOf, type TaskDetail, taskFields } from "./detail.ts";
import { findTask } from "./find-task.ts";

export interface CreateTaskRequest extends TaskFields {
  readonly title: string;
  /** Chosen by the caller; otherwise made of the project's name. */
  readonly id?: string | undefined;
  /** Existing tasks that must be closed first. */
  readonly blockedBy?: readonly string[] | undefined;
}

/** Adds an open task. Everybody may: finding work is part of working. */
export const createTask: UseCase<CreateTaskRequest, TaskDetail> = {
  kind: "write",
  request: fields({ title: text }, { ...taskFields, id: text, blockedBy: list(text) }),
  run: async (tx, context, request) => {
    const id = await chooseId(tx, context, request.id);
    if (!id.ok) return id;
    const made = newTask({ ...request, id: id.value, runId: await runOf(tx, context) }, context.now);
    if (!made.ok) return made;
    const task = made.value;
    if (task.parentId !== null) {
      const parent = await findTask(tx, task.parentId);
      if (!parent.ok) return parent;
    }
    await tx.tasks.insert(task);
    for (const dependsOn of new Set(request.blockedBy)) {
      if (dependsOn === task.id) return no({ kind: "dependency-cycle", path: [task.id, task.id] });
      const dependency = await findTask(tx, dependsOn);
      if (!dependency.ok) return dependency;
      await tx.tasks.addDependency({ taskId: task.id, dependsOn });
    }
    await record(tx, context.now, {
      ...byCaller(context.caller, task.runId),
      type: "task_created",
      data: { taskId: task.id, title: task.title },
    });
    return ok(await detailOf(tx, task));
  },
};

/** An agent's tasks belong to its run, a person's to the run that is going on. */
async function runOf(tx: Tx, { caller }: Context): Promise<string | null> {
  return caller.kind === "agent" ? caller.runId : ((await tx.runs.current())?.id ?? null);
}

async function chooseId(
  tx: Tx,
  { ids, settings }: Context,
  given: string | undefined,
): Promise<Result<string, Refusal>> {
  if (given === undefined) return ok(await unusedId(tx, ids.next, taskPrefix(settings.project.name)));
  const id = taskId(given, "id");
  if (!id.ok) return id;
  if ((await tx.tasks.get(given)) === undefined) return id;
  return no(invalid("id", "is already used by another task", { value: given }));
}

/** Four characters are easy to say; a longer part takes over when too many of them are used. */
async function unusedId(tx: Tx, next: Context["ids"]["next"], prefix: string): Promise<string> {
  for (let attempt = 0; ; attempt++) {
    const id = next(prefix, 4 + Math.floor(attempt / 4));
    if ((await tx.tasks.get(id)) === undefined) return id;
  }
}
