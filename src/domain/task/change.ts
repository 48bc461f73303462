import { invalid, type Refusal } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";
import { checkFields, type TaskFields } from "./fields.ts";
import { heldByAnother } from "./rights.ts";
import type { Task, TaskStatus } from "./task.ts";

/*
 *   create   -                           -> open
 *   claim    open, in_progress           -> in_progress  by one holder; the same holder may repeat it
 *   update   anything but closed         -> anything but closed; `open` gives the claim back
 *   close    anything but closed         -> closed       it has no holder any more
 *   drop     anything but closed         -> closed       its work is not wanted any more, and lands nowhere
 *   reopen   closed                      -> open         with nothing left of its landing
 *   reopen   in_progress, in_review      -> open         when its holder is released
 *   return   in_progress                 -> open         its holder was released without finishing
 *   unhold   in_review, blocked          -> the same     its holder was released
 *   give up  in_review                   -> open         its branch was cancelled or let go, and landed nowhere
 */

/** A task that does not exist yet. The caller has checked that the id is free and the parent exists. */
export function newTask(
  given: { readonly id: string; readonly runId: string | null; readonly title: string } & TaskFields,
  now: number,
): Result<Task, Refusal> {
  const checked = checkFields(given);
  if (!checked.ok) return checked;
  return ok({ ...blank, id: given.id, title: given.title, runId: given.runId, ...checked.value, ...bothTimes(now) });
}

export interface TaskChange extends TaskFields {
  readonly status?: string | undefined;
}

/** The task with some fields replaced. Absent ones stay; a blank text empties a field that may be empty. */
export function changeTask(task: Task, change: TaskChange, now: number): Result<Task, Refusal> {
  const checked = checkFields(change);
  if (!checked.ok) return checked;
  const changed = { ...task, ...checked.value, updatedAt: later(task, now) };
  if (change.status === undefined) return ok(changed);
  const status = workStatuses.find((known) => known === change.status);
  if (status === undefined) {
    return no(invalid("status", statusProblem(change.status), { value: change.status, allowed: workStatuses }));
  }
  if (task.status === "closed") return no(wrongStatus(task, workStatuses));
  return ok({ ...changed, ...(status === "open" ? unclaimed : {}), status });
}

/** Compare-and-set: of several claims the first gets the task. `openDependencies`: the tasks it still waits for. */
export function claimTask(
  task: Task,
  claim: {
    readonly by: string;
    readonly openDependencies: readonly string[];
    readonly expires?: number | undefined;
  },
  now: number,
): Result<Task, Refusal> {
  if (!claimable.includes(task.status)) return no(wrongStatus(task, claimable));
  const expired = task.claimExpires !== null && task.claimExpires <= now;
  const held = expired ? undefined : heldByAnother(task, claim.by);
  if (held !== undefined) return no(held);
  if (task.claimedBy === claim.by && !expired && claim.expires === undefined) return ok(task);
  if (claim.openDependencies.length > 0) {
    return no({ kind: "task-blocked", task: task.id, by: claim.openDependencies });
  }
  return ok({
    ...task,
    status: "in_progress",
    // An earlier agent gave up the task; that says nothing about the work of this one.
    mergeState: task.mergeState === "abandoned" ? "none" : task.mergeState,
    claimedBy: claim.by,
    claimExpires: claim.expires ?? null,
    updatedAt: later(task, now),
  });
}

/** Closing a closed task changes nothing, so that a second caller gets no error. */
export function closeTask(task: Task, reason: string | null, now: number): Task {
  if (task.status === "closed") return task;
  const closeReason = reason?.trim() === "" ? null : (reason?.trim() ?? null);
  return { ...task, ...unclaimed, status: "closed", closeReason, closedAt: now, updatedAt: later(task, now) };
}

/** Closes a task whose work is not wanted any more. The commits stay on the branches. A closed task stays as it is. */
export function dropTask(task: Task, reason: string, now: number): Task {
  if (task.status === "closed") return task;
  return { ...closeTask(task, `dropped: ${reason.trim()}`, now), mergeState: "abandoned" };
}

/** Was it closed without landing? */
export const isDropped = ({ status, mergeState }: Pick<Task, "status" | "mergeState">): boolean =>
  status === "closed" && mergeState === "abandoned";

/** Its holder is gone, and it was not finished: it is ready again. Of any other task nothing changes. */
export function returnTask(task: Task, from: string, now: number): Task {
  if (task.status !== "in_progress" || task.claimedBy !== from) return task;
  return { ...task, ...unclaimed, status: "open", mergeState: "none", updatedAt: later(task, now) };
}

/** Its holder was released, though the task is not over: it waits for its landing, or for the tasks of others. */
export function unholdTask(task: Task, from: string, now: number): Task {
  if (task.status === "closed" || task.claimedBy !== from) return task;
  return { ...task, ...unclaimed, updatedAt: later(task, now) };
}

/** Its work was handed in and will not land: it is ready again. Of any other task nothing changes. */
export function giveUpTask(task: Task, from: string, now: number): Task {
  if (task.status !== "in_review" || (task.claimedBy !== null && task.claimedBy !== from)) return task;
  return { ...task, ...unclaimed, status: "open", mergeState: "abandoned", updatedAt: later(task, now) };
}

/** What landed or was given up is history; the task starts over. `heldBy`: a holder that may still work on it. */
export function reopenTask(task: Task, now: number, heldBy: string | null = null): Result<Task, Refusal> {
  const isOver = task.status === "closed";
  const isLeft = heldBy === null && (task.status === "in_progress" || task.status === "in_review");
  if (!isOver && !isLeft) {
    return no(heldBy === null ? wrongStatus(task, ["closed"]) : { kind: "task-held", task: task.id, holder: heldBy });
  }
  return ok({
    ...task,
    ...unclaimed,
    status: "open",
    mergeState: "none",
    closeReason: null,
    closedAt: null,
    updatedAt: later(task, now),
  });
}

/** A task whose own fields stay but whose relations changed; the line format carries relations too. */
export const touched = (task: Task, now: number): Task => ({ ...task, updatedAt: later(task, now) });

const workStatuses = ["open", "in_progress", "in_review", "blocked"] as const satisfies readonly TaskStatus[];
const claimable: readonly TaskStatus[] = ["open", "in_progress"];
const unclaimed = { claimedBy: null, claimExpires: null } as const;

const blank: Omit<Task, "id" | "title" | "runId" | "createdAt" | "updatedAt"> = {
  status: "open",
  type: "task",
  priority: 2,
  description: null,
  assignee: null,
  labels: [],
  files: [],
  shares: [],
  parentId: null,
  mergeState: "none",
  closeReason: null,
  closedAt: null,
  ...unclaimed,
};

const bothTimes = (now: number): Pick<Task, "createdAt" | "updatedAt"> => ({ createdAt: now, updatedAt: now });

/** Exchanged files keep the line with the later time, so every change must be later than the one before it. */
const later = (task: Task, now: number): number => Math.max(now, task.updatedAt + 1);

const statusProblem = (status: string): string =>
  status === "closed" ? "is set by closing the task" : "is not a status of a task";

const wrongStatus = (task: Task, wanted: readonly TaskStatus[]): Refusal => ({
  kind: "task-status",
  task: task.id,
  status: task.status,
  wanted,
});
