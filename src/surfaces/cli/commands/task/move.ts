import { ok } from "../../../../domain/result.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Handler } from "../../command.ts";
import { text, word } from "../../given.ts";
import { successLine } from "../../marks.ts";
import { readyLines, taskJson } from "./render.ts";

export const claim: Handler = async ({ app, args, flags, io }) => {
  const claimed = await app.call("task.claim", { id: word(args["task-id"]), by: text(flags.by) });
  if (!claimed.ok) return claimed;
  const { id, claimedBy } = claimed.value.task;
  const line = `${successLine(io.paint, "Claimed task", id)} for ${claimedBy}`;
  return ok({ json: { task: taskJson(claimed.value) }, text: line, quietText: id });
};

export const close: Handler = async ({ app, args, flags, io }) => {
  const closed = await app.call("task.close", { id: word(args["task-id"]), reason: text(flags.reason) });
  if (!closed.ok) return closed;
  const { ready, completedGroups, ...detail } = closed.value;
  const lines = [
    successLine(io.paint, "Closed task", detail.task.id),
    ...completedGroups.map((group) => successLine(io.paint, `Group complete: ${visibleLine(group.name)}`, group.id)),
    ...readyLines(io.paint, ready),
  ];
  return ok({
    json: {
      task: taskJson(detail),
      ready: ready.map(taskJson),
      completedGroups: completedGroups.map(({ id, name }) => ({ id, name })),
    },
    text: lines.join("\n"),
    quietText: detail.task.id,
  });
};

export const reopen: Handler = async ({ app, args, io }) => {
  const reopened = await app.call("task.reopen", { id: word(args["task-id"]) });
  if (!reopened.ok) return reopened;
  const { id } = reopened.value.task;
  const line = successLine(io.paint, "Reopened task", id);
  return ok({ json: { task: taskJson(reopened.value) }, text: line, quietText: id });
};
