import { visibleLine } from "../../../../domain/text/visible.ts";
import type { GroupDetail } from "../../../../usecases/groups/find-group.ts";
import type { Paint } from "../../command.ts";
import { iso } from "../../format.ts";

export function groupJson({ group, memberIds }: GroupDetail): Readonly<Record<string, unknown>> {
  return {
    id: group.id,
    name: group.name,
    memberIssueIds: memberIds,
    status: group.status,
    createdAt: iso(group.createdAt),
    completedAt: iso(group.completedAt),
    owner: group.owner,
    runId: group.runId,
  };
}

/** Name, id and status of a group on one line. */
export function groupTitle(paint: Paint, { group }: GroupDetail): string {
  const status = group.status === "completed" ? paint.green(group.status) : paint.yellow(group.status);
  return `${paint.bold(visibleLine(group.name))}  ${paint.accent(group.id)}  ${status}`;
}
