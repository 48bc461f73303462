import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import { reopenTask as reopen } from "../../domain/task/change.ts";
import { forbidden } from "../../domain/task/rights.ts";
import type { Task } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import { resumeGroupsOf } from "../groups/complete-group.ts";
import type { UseCase } from "../usecase.ts";
import { detailOf, type TaskDetail } from "./detail.ts";
import { findTask } from "./find-task.ts";

/** Makes a closed task open again; groups that counted it as done follow it again. */
export const reopenTask: UseCase<{ readonly id: string }, TaskDetail> = {
  kind: "write",
  request: fields({ id: text }),
  run: async (tx, context, { id }) => {
    const found = await findTask(tx, id);
    if (!found.ok) return found;
    const refused = forbidden(context.caller, "reopen", found.value);
    if (refused !== undefined) return no(refused);
    const reopened = reopen(found.value, context.now, await holderOf(tx, found.value));
    if (!reopened.ok) return reopened;
    await tx.tasks.update(reopened.value);
    await record(tx, context.now, {
      ...byCaller(context.caller, reopened.value.runId),
      type: "task_reopened",
      data: { taskId: id },
    });
    await resumeGroupsOf(tx, context, [id]);
    return ok(await detailOf(tx, reopened.value));
  },
};

/** Whoever holds it and is not released: also one that has submitted, because its work may still land. */
async function holderOf(tx: Tx, { status, claimedBy }: Task): Promise<string | null> {
  if (status === "closed" || status === "open" || claimedBy === null) return null;
  const holder = await tx.agents.byName(claimedBy);
  return holder === undefined || holder.releasedAt !== null ? null : claimedBy;
}
