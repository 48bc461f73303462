import { ok } from "../../../../domain/result.ts";
import type { Call, Handler } from "../../command.ts";
import { integer, list, text } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { taskJson } from "./render.ts";

export const create: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const created = await app.call("task.create", {
    title: text(args.title) ?? text(flags.title) ?? "",
    id: text(flags.id),
    blockedBy: list(flags["blocked-by"]),
    ...(await fieldFlags(call)),
  });
  if (!created.ok) return created;
  const { id } = created.value.task;
  const json = { id, task: taskJson(created.value) };
  return ok({ json, text: successLine(io.paint, "Created task", id), quietText: id });
};

/** The flags that `create` and `update` share, by the names of the fields. */
export async function fieldFlags({ flags, io }: Call) {
  const description = text(flags.description);
  return {
    description: description === "-" ? await io.stdin() : description,
    type: text(flags.type),
    priority: integer(flags.priority),
    assignee: text(flags.assignee),
    labels: list(flags.labels),
    files: list(flags.files),
    parentId: text(flags.parent),
  };
}
