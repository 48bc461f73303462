import { invalid } from "../../../../domain/refusal.ts";
import { no, ok } from "../../../../domain/result.ts";
import type { Handler } from "../../command.ts";
import { text, word } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { fieldFlags } from "./create.ts";
import { taskJson } from "./render.ts";

export const update: Handler = async (call) => {
  const { app, args, flags, io } = call;
  const change = { title: text(flags.title), status: text(flags.status), ...(await fieldFlags(call)) };
  if (Object.values(change).every((value) => value === undefined)) {
    return no(invalid("change", "must name at least one field, such as --title or --status"));
  }
  const updated = await app.call("task.update", { id: word(args["task-id"]), ...change });
  if (!updated.ok) return updated;
  const { id } = updated.value.task;
  return ok({
    json: { task: taskJson(updated.value) },
    text: successLine(io.paint, "Updated task", id),
    quietText: id,
  });
};
