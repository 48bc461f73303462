import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { changeTask, type TaskChange } from "../../domain/task/change.ts";
import { isOwnAncestor } from "../../domain/task/dependency.ts";
import { forbidden } from "../../domain/task/rights.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import type { UseCase } from "../usecase.ts";
import { detailOf, type TaskDetail, taskFields } from "./detail.ts";
import { findTask } from "./find-task.ts";

export interface UpdateTaskRequest extends TaskChange {
  readonly id: string;
}

/** Replaces the given fields and leaves the others. */
export const updateTask: UseCase<UpdateTaskRequest, TaskDetail> = {
  kind: "write",
  request: fields({ id: text }, { ...taskFields, title: text, status: text }),
  run: async (tx, context, { id, ...change }) => {
    const found = await findTask(tx, id);
    if (!found.ok) return found;
    const action = change.status === undefined ? "change" : "move";
    const refused = forbidden(context.caller, action, found.value);
    if (refused !== undefined) return no(refused);
    const changed = changeTask(found.value, change, context.now);
    if (!changed.ok) return changed;
    const misplaced = await wrongParent(tx, changed.value);
    if (misplaced !== undefined) return no(misplaced);
    await tx.tasks.update(changed.value);
    const fields = Object.entries(change).filter(([, value]) => value !== undefined);
    const data = { taskId: id, fields: fields.map(([field]) => field), status: changed.value.status };
    await record(tx, context.now, { ...byCaller(context.caller, changed.value.runId), type: "task_updated", data });
    return ok(await detailOf(tx, changed.value));
  },
};

async function wrongParent(tx: Tx, { id, parentId }: Task): Promise<Refusal | undefined> {
  if (parentId === null) return undefined;
  const parent = await findTask(tx, parentId);
  if (!parent.ok) return parent.refusal;
  if (!isOwnAncestor(id, parentId, await tx.tasks.list({}))) return undefined;
  return invalid("parent", "would make the task its own ancestor", { value: parentId });
}
