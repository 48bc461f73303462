import { groupProgressView, groupView } from "../../../contract/views/task.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import { ok, type Result } from "../../../domain/result.ts";
import { visibleLine } from "../../../domain/text/visible.ts";
import type { GroupDetail, GroupStatus } from "../../../usecases/groups/read-groups.ts";
import type { Handler, Outcome, Paint, Rows } from "../command.ts";
import { isOn, text, texts, word } from "../given.ts";
import { successLine } from "../marks.ts";
import { table } from "../table.ts";

export const create: Handler = async ({ app, args, flags, io }) => {
  const created = await app.call("group.create", {
    name: word(args.name),
    taskIds: texts(args["task-ids"]) ?? [],
    skipValidation: isOn(flags["skip-validation"]),
  });
  return outcome(io.paint, created, "Created group");
};

export const add: Handler = async ({ app, args, flags, io }) => {
  const added = await app.call("group.add", {
    group: word(args.group),
    taskIds: texts(args["task-ids"]) ?? [],
    skipValidation: isOn(flags["skip-validation"]),
  });
  return outcome(io.paint, added, "Added to group");
};

export const remove: Handler = async ({ app, args, io }) => {
  const removed = await app.call("group.remove", { group: word(args.group), taskIds: texts(args["task-ids"]) ?? [] });
  return outcome(io.paint, removed, "Removed from group");
};

function outcome(paint: Paint, changed: Result<GroupDetail, Refusal>, words: string): Result<Outcome, Refusal> {
  if (!changed.ok) return changed;
  const { group, memberIds } = changed.value;
  const count = `${memberIds.length} ${memberIds.length === 1 ? "task" : "tasks"}, ${group.status}`;
  return ok({
    json: groupView(changed.value),
    text: `${successLine(paint, words, group.id)} (${count})`,
    quietText: group.id,
  });
}

export const status: Handler = async ({ app, args, io }) => {
  const named = text(args.group);
  const found = await app.call("group.status", { group: named });
  if (!found.ok) return found;
  const { groups } = found.value;
  const [only] = groups;
  const lines = groups.map((entry) => statusLines(io.paint, entry));
  return ok({
    json:
      named !== undefined && only !== undefined ? groupProgressView(only) : { groups: groups.map(groupProgressView) },
    text: lines.length === 0 ? "No active groups." : lines.join("\n"),
  });
};

function statusLines(paint: Paint, entry: GroupStatus): string {
  const { total, completed, inProgress, blocked, open } = entry.progress;
  const counts = `${completed}/${total} closed, ${inProgress} in progress, ${blocked} blocked, ${open} open`;
  return `${groupTitle(paint, entry)}\n  ${counts}`;
}

/** Name, id and status of a group on one line. */
function groupTitle(paint: Paint, { group }: GroupDetail): string {
  const status = group.status === "completed" ? paint.green(group.status) : paint.yellow(group.status);
  return `${paint.bold(visibleLine(group.name))}  ${paint.accent(group.id)}  ${status}`;
}

export const list: Handler = async ({ app, io }) => {
  const found = await app.call("group.list", {});
  if (!found.ok) return found;
  const { groups } = found.value;
  const rows: Rows = {
    columns: ["ID", "STATUS", "TASKS", "OWNER", "NAME"],
    cells: groups.map(({ group, memberIds }) => [
      group.id,
      group.status,
      String(memberIds.length),
      group.owner,
      group.name,
    ]),
    objects: groups.map(groupView),
  };
  return ok({
    json: { groups: groups.map(groupView) },
    text: groups.length === 0 ? "No groups." : table(rows, io.paint),
    rows,
  });
};
