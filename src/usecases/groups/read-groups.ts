import { ok } from "../../domain/result.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
import type { GroupProgress } from "../../domain/task/group.ts";
import type { Group } from "../../domain/task/task.ts";
import type { UseCase } from "../usecase.ts";
import { progressOf } from "./complete-group.ts";
import { findGroup, type GroupDetail, groupDetail } from "./find-group.ts";

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
