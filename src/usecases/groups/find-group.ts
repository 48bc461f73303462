import { taskId } from "../../domain/name/name.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { repeated, resolveGroup } from "../../domain/task/group.ts";
import type { Group } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { findTask } from "../tasks/find-task.ts";

export interface GroupDetail {
  readonly group: Group;
  readonly memberIds: readonly string[];
}

export async function groupDetail(tx: Tx, group: Group): Promise<GroupDetail> {
  return { group, memberIds: await tx.groups.members(group.id) };
}

export const findGroup = async (tx: Tx, argument: string): Promise<Result<Group, Refusal>> =>
  resolveGroup(argument, await tx.groups.list());

/** Task ids for a group: at least one, none twice, and each known unless tasks live elsewhere. */
export async function checkMembers(
  tx: Tx,
  taskIds: readonly string[],
  options: { readonly mustExist: boolean },
): Promise<Result<readonly string[], Refusal>> {
  if (taskIds.length === 0) return no(invalid("tasks", "must name at least one task"));
  for (const id of taskIds) {
    const checked = options.mustExist ? await findTask(tx, id) : taskId(id);
    if (!checked.ok) return checked;
  }
  const twice = repeated(taskIds);
  return twice === undefined ? ok(taskIds) : no(invalid("tasks", "must not name a task twice", { value: twice }));
}
