import { isCodeTask } from "./rights.ts";
import type { Task } from "./task.ts";

/** The places of a task on a board, in the order in which work goes through them. */
export const boardColumns = ["waiting", "ready", "working", "review", "queued", "done"] as const;
export type BoardColumn = (typeof boardColumns)[number];

type Placed = Pick<Task, "id" | "status" | "mergeState" | "claimedBy">;

/** `waitsFor`: open tasks that must be closed before it can begin. */
export function columnOf({ status, mergeState }: Placed, waitsFor: readonly string[]): BoardColumn {
  if (status === "closed") return "done";
  if (status === "in_review") return inQueue.includes(mergeState) ? "queued" : "review";
  if (status === "in_progress") return "working";
  return status === "blocked" || waitsFor.length > 0 ? "waiting" : "ready";
}

const inQueue: readonly Task["mergeState"][] = ["queued", "failed"];

/** What a person's move means; or why it cannot be made by hand. */
export type BoardMove = { readonly verb: "block" | "unblock" | "reopen" | "close" } | { readonly whyNot: string };

/**
 *   ready -> waiting      block     by hand only; a dependency does it by itself
 *   waiting -> ready      unblock   while it waits for no task
 *   working, review, done -> ready  reopen    while no agent holds it
 *   any -> done           close     while no agent holds it and it has nothing to land
 *   all others are moves of agents and of the merge queue
 */
export function boardMove(task: Placed, waitsFor: readonly string[], to: BoardColumn): BoardMove {
  const from = columnOf(task, waitsFor);
  if (from === to) return no(`${task.id} is there already`);
  const held = task.claimedBy === null || from === "done" ? undefined : heldBy(task.claimedBy);
  switch (to) {
    case "waiting":
      return held ?? (from === "ready" ? { verb: "block" } : no("only a ready task can be held back"));
    case "ready":
      if (from === "queued") return no("its branch is in the merge queue; cancel it there");
      if (from === "waiting" && waitsFor.length > 0) return no(`it waits for ${waitsFor.join(", ")}`);
      return held ?? { verb: from === "waiting" ? "unblock" : "reopen" };
    case "working":
      return no(from === "ready" ? "an agent takes it there: sling one" : "its agent takes it there");
    case "review":
      return no("its agent takes it there when it is done");
    case "queued":
      return no("its lead takes it there with merge_ready");
    case "done":
      if (isCodeTask(task) && task.mergeState !== "abandoned")
        return no("its branch has not landed; landing closes it");
      return held ?? { verb: "close" };
  }
}

const no = (whyNot: string): BoardMove => ({ whyNot });
const heldBy = (holder: string): BoardMove => no(`${holder} holds it; drop the task or stop ${holder} first`);
