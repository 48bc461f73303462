import type { Refusal } from "../../../../domain/refusal.ts";
import { ok, type Result } from "../../../../domain/result.ts";
import type { GroupDetail } from "../../../../usecases/groups/find-group.ts";
import type { Handler, Outcome, Paint } from "../../command.ts";
import { isOn, list, word } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { groupJson } from "./render.ts";

export const create: Handler = async ({ app, args, flags, io }) => {
  const created = await app.call("group.create", {
    name: word(args.name),
    taskIds: list(args["task-ids"]) ?? [],
    skipValidation: isOn(flags["skip-validation"]),
  });
  return outcome(io.paint, created, "Created group");
};

export const add: Handler = async ({ app, args, flags, io }) => {
  const added = await app.call("group.add", {
    group: word(args.group),
    taskIds: list(args["task-ids"]) ?? [],
    skipValidation: isOn(flags["skip-validation"]),
  });
  return outcome(io.paint, added, "Added to group");
};

export const remove: Handler = async ({ app, args, io }) => {
  const removed = await app.call("group.remove", { group: word(args.group), taskIds: list(args["task-ids"]) ?? [] });
  return outcome(io.paint, removed, "Removed from group");
};

function outcome(paint: Paint, changed: Result<GroupDetail, Refusal>, words: string): Result<Outcome, Refusal> {
  if (!changed.ok) return changed;
  const { group, memberIds } = changed.value;
  const count = `${memberIds.length} ${memberIds.length === 1 ? "task" : "tasks"}, ${group.status}`;
  return ok({
    json: groupJson(changed.value),
    text: `${successLine(paint, words, group.id)} (${count})`,
    quietText: group.id,
  });
}
