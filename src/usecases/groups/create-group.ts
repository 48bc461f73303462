import { invalid } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, flag, list, text } from "../../domain/schema/schema.ts";
import { forbiddenToArrange } from "../../domain/task/rights.ts";
import type { Group } from "../../domain/task/task.ts";
import { byCaller, record } from "../events/record.ts";
import type { UseCase } from "../usecase.ts";
import { completeIfDone } from "./complete-group.ts";
import { checkMembers, type GroupDetail } from "./find-group.ts";

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
