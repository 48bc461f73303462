import { invalid, type Refusal } from "../../domain/refusal.ts";
import { no, ok, type Result } from "../../domain/result.ts";
import { fields, flag, list, text } from "../../domain/schema/schema.ts";
import { forbiddenToArrange } from "../../domain/task/rights.ts";
import type { Group } from "../../domain/task/task.ts";
import type { Tx } from "../../ports/store.ts";
import { byCaller, record } from "../events/record.ts";
import type { Context, UseCase } from "../usecase.ts";
import { completeIfDone, resume } from "./complete-group.ts";
import { checkMembers, findGroup, type GroupDetail, groupDetail } from "./read-groups.ts";

export interface CreateGroupRequest {
  readonly name: string;
  readonly taskIds: readonly string[];
  /** The tasks live in another tracker. */
  readonly skipValidation?: boolean | undefined;
}

/** Follows tasks together; the caller owns the group and is told when all of them are closed. */
export const createGroup: UseCase<CreateGroupRequest, GroupDetail> = {
  kind: "write",
  request: fields({ name: text, taskIds: list(text) }, { skipValidation: flag }),
  run: async (tx, context, request) => {
    const { caller, now, ids } = context;
    const refused = forbiddenToArrange(caller, "create a group");
    if (refused !== undefined) return no(refused);
    const name = request.name.trim();
    if (name === "") return no(invalid("name", "must not be empty"));
    const members = await checkMembers(tx, request.taskIds, { mustExist: request.skipValidation !== true });
    if (!members.ok) return members;
    const group: Group = {
      id: ids.next("group", 8),
      name,
      status: "active",
      runId: caller.kind === "agent" ? caller.runId : ((await tx.runs.current())?.id ?? null),
      owner: caller.kind === "agent" ? caller.name : "operator",
      createdAt: now,
      completedAt: null,
    };
    await tx.groups.insert(group, members.value);
    const data = { groupId: group.id, name, taskIds: members.value };
    await record(tx, context.now, { ...byCaller(context.caller, group.runId), type: "group_created", data });
    return ok({ group: await completeIfDone(tx, context, group), memberIds: members.value });
  },
};

export interface ChangeMembersRequest {
  /** Id or name. */
  readonly group: string;
  readonly taskIds: readonly string[];
}

export interface AddMembersRequest extends ChangeMembersRequest {
  readonly skipValidation?: boolean | undefined;
}

/** Adds tasks to a group; a completed one is active again. */
export const addMembers: UseCase<AddMembersRequest, GroupDetail> = {
  kind: "write",
  request: fields({ group: text, taskIds: list(text) }, { skipValidation: flag }),
  run: async (tx, context, { group: argument, taskIds, skipValidation }) => {
    const found = await findOwn(tx, context, argument, "add to a group");
    if (!found.ok) return found;
    const { group, memberIds } = found.value;
    const already = taskIds.find((id) => memberIds.includes(id));
    if (already !== undefined) return no({ kind: "group-member", group: group.id, task: already, problem: "already" });
    const checked = await checkMembers(tx, taskIds, { mustExist: skipValidation !== true });
    if (!checked.ok) return checked;
    await tx.groups.addMembers(group.id, taskIds);
    return ok(await recordChange(tx, context, await resume(tx, context, group), { added: taskIds }));
  },
};

/** Takes tasks out of a group; one whose last open task goes is complete. */
export const removeMembers: UseCase<ChangeMembersRequest, GroupDetail> = {
  kind: "write",
  request: fields({ group: text, taskIds: list(text) }),
  run: async (tx, context, { group: argument, taskIds }) => {
    const found = await findOwn(tx, context, argument, "remove from a group");
    if (!found.ok) return found;
    const { group, memberIds } = found.value;
    const absent = taskIds.find((id) => !memberIds.includes(id));
    if (absent !== undefined) return no({ kind: "group-member", group: group.id, task: absent, problem: "absent" });
    const checked = await checkMembers(tx, taskIds, { mustExist: false });
    if (!checked.ok) return checked;
    if (taskIds.length === memberIds.length) return no({ kind: "group-would-be-empty", group: group.id });
    await tx.groups.removeMembers(group.id, taskIds);
    return ok(await recordChange(tx, context, group, { removed: taskIds }));
  },
};

async function findOwn(
  tx: Tx,
  { caller }: Context,
  argument: string,
  action: string,
): Promise<Result<GroupDetail, Refusal>> {
  const refused = forbiddenToArrange(caller, action);
  if (refused !== undefined) return no(refused);
  const group = await findGroup(tx, argument);
  return group.ok ? ok(await groupDetail(tx, group.value)) : group;
}

async function recordChange(
  tx: Tx,
  context: Context,
  group: Group,
  change: { added: readonly string[] } | { removed: readonly string[] },
): Promise<GroupDetail> {
  const data = { groupId: group.id, name: group.name, ...change };
  await record(tx, context.now, { ...byCaller(context.caller, group.runId), type: "group_changed", data });
  return groupDetail(tx, await completeIfDone(tx, context, group));
}
