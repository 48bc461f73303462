import { specView } from "../../../contract/views/task.ts";
import { ok } from "../../../domain/result.ts";
import { visibleText } from "../../../domain/text/visible.ts";
import type { Handler } from "../command.ts";
import { text, word } from "../given.ts";
import { successLine } from "../marks.ts";

export const write: Handler = async ({ app, args, flags, io }) => {
  const written = await app.call("spec.write", {
    taskId: word(args["task-id"]),
    body: text(flags.body) ?? (await io.stdin()) ?? "",
    agent: text(flags.agent),
  });
  if (!written.ok) return written;
  const { taskId, path } = written.value;
  return ok({
    json: { taskId, path },
    text: `${successLine(io.paint, "Spec written", taskId)}\n${path}`,
    quietText: path,
  });
};

export const read: Handler = async ({ app, args }) => {
  const found = await app.call("spec.read", { taskId: word(args["task-id"]) });
  if (!found.ok) return found;
  return ok({ json: specView(found.value), text: visibleText(found.value.text) });
};
