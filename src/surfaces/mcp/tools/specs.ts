import { specView } from "../../../contract/views/task.ts";
import { ok } from "../../../domain/result.ts";
import { quoted, visibleLine } from "../../../domain/text/visible.ts";
import type { ToolHandler } from "../tool-call.ts";
import { ownOr } from "./tasks.ts";

export const specWrite: ToolHandler = async (given, { app }) => {
  const written = await app.call("spec.write", { taskId: given.text("task_id"), body: given.text("body") });
  if (!written.ok) return written;
  const { taskId, path } = written.value;
  return ok({ text: `Spec of ${taskId} written: ${visibleLine(path)}`, data: { taskId, path } });
};

export const specRead: ToolHandler = async (given, context) => {
  const id = ownOr(given, context, "task_id");
  if (!id.ok) return id;
  const found = await context.app.call("spec.read", { taskId: id.value });
  if (!found.ok) return found;
  const { taskId, text, author } = found.value;
  const by = author === null ? "" : ` by ${visibleLine(author)}`;
  return ok({ text: [`Spec of ${taskId}${by}:`, ...quoted(text)].join("\n"), data: specView(found.value) });
};
