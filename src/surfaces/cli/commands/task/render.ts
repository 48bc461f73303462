import { visibleLine } from "../../../../domain/text/visible.ts";
import type { TaskDetail } from "../../../../usecases/tasks/detail.ts";
import type { Paint, Rows } from "../../command.ts";
import { iso } from "../../format.ts";

/** A task with the keys other trackers use, then ours; times in ISO-8601. */
export function taskJson({ task, blocks, blockedBy, waitsFor }: TaskDetail): Readonly<Record<string, unknown>> {
  return {
    id: task.id,
    title: task.title,
    status: task.status,
    priority: task.priority,
    type: task.type,
    assignee: task.assignee,
    description: task.description,
    blocks,
    blockedBy,
    waitsFor,
    labels: task.labels,
    createdAt: iso(task.createdAt),
    updatedAt: iso(task.updatedAt),
    closedAt: iso(task.closedAt),
    closeReason: task.closeReason,
    claimedBy: task.claimedBy,
    claimExpires: iso(task.claimExpires),
    parentId: task.parentId,
    mergeState: task.mergeState,
    files: task.files,
    runId: task.runId,
  };
}

export function taskRows(details: readonly TaskDetail[]): Rows {
  return {
    columns: ["ID", "P", "STATUS", "TYPE", "HOLDER", "TITLE"],
    cells: details.map(({ task, waitsFor }) => [
      task.id,
      String(task.priority),
      task.status === "open" && waitsFor.length > 0 ? `blocked by ${waitsFor.join(", ")}` : task.status,
      task.type,
      task.claimedBy ?? task.assignee ?? "-",
      task.title,
    ]),
    objects: details.map(taskJson),
  };
}

/** One task on one line, for the answers of other commands. */
export const taskLine = (paint: Paint, { task }: TaskDetail): string =>
  `  ${paint.accent(task.id)}  P${task.priority}  ${visibleLine(task.title)}`;

/** What became ready, or nothing. */
export function readyLines(paint: Paint, ready: readonly TaskDetail[]): readonly string[] {
  return ready.length === 0 ? [] : [paint.bold("Ready now:"), ...ready.map((detail) => taskLine(paint, detail))];
}
