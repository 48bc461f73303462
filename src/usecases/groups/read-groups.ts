import { taskId } from "../../domain/name/name.ts";
import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
import { type GroupProgress, repeated, resolveGroup } from "../../domain/task/group.ts";
import type { Group } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { findTask } from "../tasks/task-detail.ts";
import type { UseCase } from "../usecase.ts";
import { progressOf } from "./complete-group.ts";

export interface GroupStatus extends GroupDetail {
  readonly progress: GroupProgress;
}

/** How far one group is, or every active one. */
export const groupStatus: UseCase<
  { readonly group?: string | undefined },
  { readonly groups: readonly GroupStatus[] }
> = {
  kind: "read",
  request: fields({}, { group: text }),
  run: async (tx, _context, request) => {
    const named = request.group === undefined ? undefined : await findGroup(tx, request.group);
    if (named !== undefined && !named.ok) return named;
    const isActive = (group: Group): boolean => group.status === "active";
    const chosen = named === undefined ? (await tx.groups.list()).filter(isActive) : [named.value];
    const groups: GroupStatus[] = [];
    for (const group of chosen) {
      const detail = await groupDetail(tx, group);
      groups.push({ ...detail, progress: await progressOf(tx, detail.memberIds) });
    }
    return ok({ groups });
  },
};

/** All groups, completed ones included, oldest first. */
export const listGroups: UseCase<object, { readonly groups: readonly GroupDetail[] }> = {
  kind: "read",
  request: noFields,
  run: async (tx) => {
    const groups: GroupDetail[] = [];
    for (const group of await tx.groups.list()) groups.push(await groupDetail(tx, group));
    return ok({ groups });
  },
};

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
