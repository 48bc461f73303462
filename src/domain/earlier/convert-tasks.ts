import { taskId as checkedId } from "../name/name.ts";
import { isPriority } from "../task/fields.ts";
import type { SeedsRecord } from "../task/seeds.ts";
import { type Group, type Task, type TaskDependency, type TaskStatus, taskTypes } from "../task/task.ts";
import { oneOf, textIn, textOf, textsIn, timeIn, timeOf, unreadable } from "./columns.ts";
import type { EarlierValues } from "./earlier-project.ts";

export interface EarlierTask {
  readonly task: Task;
  readonly dependencies: readonly TaskDependency[];
}

const ours = { files: [], shares: [], runId: null, claimedBy: null, claimExpires: null, mergeState: "none" } as const;

/** A task of seeds. */
export function seedsTask({ blocks, blockedBy, own, extra: _, ...shared }: SeedsRecord): EarlierTask {
  const { id } = shared;
  return {
    task: { ...ours, parentId: null, ...shared, ...own, claimedBy: null, claimExpires: null },
    dependencies: [
      ...blockedBy.map((dependsOn) => ({ taskId: id, dependsOn })),
      ...blocks.map((taskId) => ({ taskId, dependsOn: id })),
    ],
  };
}

const beadsStatuses: Readonly<Record<string, TaskStatus>> = {
  open: "open",
  in_progress: "in_progress",
  blocked: "blocked",
  deferred: "blocked",
  closed: "closed",
};

/** An issue of beads: one JSON object on a line. */
export function beadsTask(values: EarlierValues): EarlierTask {
  const id = textOf(values, "id");
  if (!checkedId(id).ok) return unreadable(`has an id that no task can have: ${JSON.stringify(id)}`);
  const status = beadsStatuses[textIn(values, "status") ?? "open"] ?? unreadable("has an unknown status");
  const { priority = 2 } = values;
  if (typeof priority !== "number" || !isPriority(priority)) return unreadable("has no priority from 0 to 4");
  const createdAt = timeOf(values, "created_at");
  const updatedAt = timeIn(values, "updated_at") ?? createdAt;
  const isClosed = status === "closed";
  const links = linksOf(values);
  return {
    task: {
      ...ours,
      id,
      title: textOf(values, "title"),
      status,
      type: oneOf(taskTypes, textIn(values, "issue_type")) ?? "task",
      priority,
      description: textIn(values, "description"),
      assignee: textIn(values, "assignee"),
      labels: textsIn(values, "labels"),
      parentId: links.find(({ kind }) => kind === "parent-child")?.to ?? null,
      closeReason: isClosed ? textIn(values, "close_reason") : null,
      createdAt,
      updatedAt,
      closedAt: isClosed ? (timeIn(values, "closed_at") ?? updatedAt) : null,
    },
    dependencies: links.filter(({ kind }) => kind === "blocks").map(({ to }) => ({ taskId: id, dependsOn: to })),
  };
}

function linksOf(values: EarlierValues): readonly { readonly kind: string; readonly to: string }[] {
  const links = values.dependencies ?? [];
  if (!Array.isArray(links)) return unreadable("has no list as dependencies");
  return links.map((link: EarlierValues) => ({
    kind: textIn(link, "type") ?? "blocks",
    to: textOf(link, "depends_on_id"),
  }));
}

/** A group of tasks. */
export function groupOf(values: EarlierValues): { readonly group: Group; readonly members: readonly string[] } {
  const status = oneOf(["active", "completed"] as const, textOf(values, "status"));
  const group: Group = {
    id: textOf(values, "id"),
    name: textOf(values, "name"),
    status: status ?? unreadable("has an unknown status"),
    runId: null,
    owner: "operator",
    createdAt: timeOf(values, "createdAt"),
    completedAt: timeIn(values, "completedAt"),
  };
  return { group, members: [...new Set(textsIn(values, "memberIssueIds"))] };
}
