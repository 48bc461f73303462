import { groupProgressView, groupView } from "../../../contract/views/task.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { GroupDetail } from "../../../usecases/groups/find-group.ts";
import type { GroupStatus } from "../../../usecases/groups/read-groups.ts";
import type { ToolAnswer, ToolHandler } from "../tool-call.ts";

export const groupCreate: ToolHandler = async (given, { app }) =>
  changed(await app.call("group.create", { name: given.text("name"), taskIds: given.texts("tasks") ?? [] }));

export const groupAdd: ToolHandler = async (given, { app }) =>
  changed(await app.call("group.add", { group: given.text("group"), taskIds: given.texts("tasks") ?? [] }));

export const groupRemove: ToolHandler = async (given, { app }) =>
  changed(await app.call("group.remove", { group: given.text("group"), taskIds: given.texts("tasks") ?? [] }));

export const groupStatus: ToolHandler = async (given, { app }) => {
  const found = await app.call("group.status", { group: given.optionalText("group") });
  if (!found.ok) return found;
  const { groups } = found.value;
  const text = groups.length === 0 ? "No active groups." : groups.map(progressLine).join("\n");
  return ok({ text, data: { groups: groups.map(groupProgressView) } });
};

function changed(result: Result<GroupDetail, Refusal>): Result<ToolAnswer, Refusal> {
  if (!result.ok) return result;
  const { group, memberIds } = result.value;
  const text = `Group ${group.id} (${visibleLine(group.name)}), ${group.status}: ${memberIds.join(", ")}`;
  return ok({ text, data: { group: groupView(result.value) } });
}

const progressLine = ({ group, progress }: GroupStatus): string =>
  `${group.id} (${visibleLine(group.name)}), ${group.status}: ${progress.completed} of ${progress.total} closed, ` +
  `${progress.inProgress} in progress, ${progress.blocked} blocked, ${progress.open} open`;
