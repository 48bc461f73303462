import { ok } from "../../../../domain/result.ts";
import type { TaskDetail } from "../../../../usecases/tasks/detail.ts";
import type { Handler, Io, Outcome } from "../../command.ts";
import { integer, isOn, text } from "../../given.ts";
import { hintLine } from "../../marks.ts";
import { table } from "../../table.ts";
import { taskJson, taskRows } from "./render.ts";

export const list: Handler = async ({ app, flags, io }) => {
  const found = await app.call("task.list", {
    status: text(flags.status),
    runId: text(flags.run),
    all: isOn(flags.all),
    limit: integer(flags.limit),
  });
  if (!found.ok) return found;
  const asked = isOn(flags.all) || flags.status !== undefined ? "No such tasks." : "No open tasks.";
  return ok(listing(io, found.value.tasks, [asked, 'see all: ov task list --all; add one: ov task create "<title>"']));
};

export const ready: Handler = async ({ app, flags, io }) => {
  const found = await app.call("task.ready", { limit: integer(flags.limit) });
  if (!found.ok) return found;
  return ok(listing(io, found.value.tasks, ["Nothing is ready.", "see what is waited for: ov task list"]));
};

function listing(io: Io, details: readonly TaskDetail[], empty: readonly [string, string]): Outcome {
  const rows = taskRows(details);
  const nothing = `${empty[0]}\n${hintLine(io.paint, empty[1])}`;
  return { json: { tasks: details.map(taskJson) }, text: details.length === 0 ? nothing : table(rows, io.paint), rows };
}
