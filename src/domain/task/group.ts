import { nearest } from "../name/nearest.ts";
import { notFound, type Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import type { Group, TaskStatus } from "./task.ts";

export interface GroupProgress {
  readonly total: number;
  readonly completed: number;
  readonly inProgress: number;
  readonly blocked: number;
  readonly open: number;
}

/** How far the members are. A member that the tracker does not know counts as open. */
export function groupProgress(members: readonly (TaskStatus | undefined)[]): GroupProgress {
  const count = (...statuses: readonly (TaskStatus | undefined)[]): number =>
    members.filter((status) => statuses.includes(status)).length;
  return {
    total: members.length,
    completed: count("closed"),
    inProgress: count("in_progress", "in_review"),
    blocked: count("blocked"),
    open: count("open", undefined),
  };
}

/** An empty group is never done: nothing was followed. */
export const isDone = (progress: GroupProgress): boolean => progress.total > 0 && progress.completed === progress.total;

/** The group a person means: by id, by a name only one has, or by a name only one *active* group has. */
export function resolveGroup(argument: string, groups: readonly Group[]): Result<Group, Refusal> {
  const wanted = argument.trim();
  const byId = groups.find((group) => group.id === wanted);
  if (byId !== undefined) return ok(byId);
  const named = groups.filter((group) => group.name === wanted);
  const active = named.filter((group) => group.status === "active");
  const only = single(named) ?? single(active);
  if (only !== undefined) return ok(only);
  if (named.length > 1) return no({ kind: "group-ambiguous", name: wanted, ids: named.map((group) => group.id) });
  return no(
    notFound(
      "group",
      wanted,
      nearest(
        wanted,
        groups.flatMap((group) => [group.name, group.id]),
      ),
    ),
  );
}

/** The first id that appears a second time. */
export const repeated = (ids: readonly string[]): string | undefined =>
  ids.find((id, position) => ids.indexOf(id) !== position);

const single = <T>(items: readonly T[]): T | undefined => (items.length === 1 ? items[0] : undefined);
