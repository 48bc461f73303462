import { ok } from "../../../../domain/result.ts";
import { visibleLine, visibleText } from "../../../../domain/text/visible.ts";
import type { TaskDetail } from "../../../../usecases/tasks/detail.ts";
import type { Handler, Paint } from "../../command.ts";
import { shortTime } from "../../format.ts";
import { word } from "../../given.ts";
import { taskJson } from "./render.ts";

export const show: Handler = async ({ app, args, io }) => {
  const found = await app.call("task.show", { id: word(args["task-id"]) });
  if (!found.ok) return found;
  return ok({ json: { task: taskJson(found.value) }, text: page(io.paint, found.value) });
};

function page(paint: Paint, { task, blockedBy, blocks }: TaskDetail): string {
  const facts: readonly (readonly [string, string | null])[] = [
    ["status", task.status],
    ["type", task.type],
    ["priority", String(task.priority)],
    ["claimed by", task.claimedBy],
    ["assignee", task.assignee],
    ["waits for", joined(blockedBy)],
    ["blocks", joined(blocks)],
    ["part of", task.parentId],
    ["labels", joined(task.labels)],
    ["files", joined(task.files)],
    ["merge", task.mergeState === "none" ? null : task.mergeState],
    ["run", task.runId],
    ["created", shortTime(task.createdAt, Date.now())],
    ["closed", task.closedAt === null ? null : shortTime(task.closedAt, Date.now())],
    ["reason", task.closeReason],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null ? [] : [`  ${paint.dim(name.padEnd(10))}  ${visibleLine(value)}`],
  );
  const description = task.description === null ? [] : ["", visibleText(task.description)];
  return [`${paint.accent(task.id)}  ${paint.bold(visibleLine(task.title))}`, ...lines, ...description].join("\n");
}

const joined = (items: readonly string[]): string | null => (items.length === 0 ? null : items.join(", "));
