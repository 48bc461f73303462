import { type Capability, canonical } from "../agent/capability.ts";
import type { Caller } from "../caller/caller.ts";
import type { Refusal } from "../refusal.ts";
import type { Task } from "./task.ts";

/**
 * `word` covers the words and files of a task, `change` its other fields and its dependencies; the others move it
 * along.
 */
export const taskActions = ["word", "change", "claim", "move", "close", "drop", "reopen"] as const;
export type TaskAction = (typeof taskActions)[number];

/** The action as a refusal names it. */
export const actionWords = (action: TaskAction, taskId: string): string =>
  `${action === "word" ? "change" : action} task ${taskId}`;

/**
 * Why the caller may not do this to the task, or undefined when it may.
 *
 *   operator, engine     everything
 *   lead, coordinator    every task, but no agent closes one with code to land: landing does. One whose work was
 *                        given up has none
 *                        Which tasks each of them may drop, and which a lead may put into other words, move along,
 *                        close and reopen, the use case decides by who works on them
 *   other agents         their own task, and they move it only while no other agent holds it
 *   no agent             puts its own task into other words: its work is judged by them
 */
export function forbidden(caller: Caller, action: TaskAction, task: Task): Refusal | undefined {
  if (caller.kind !== "agent") return undefined;
  if (!directs(caller) && caller.taskId !== task.id) {
    return deny(caller, actionWords(action, task.id), "it is not its own task");
  }
  if (action === "word" && caller.taskId === task.id) {
    return deny(
      caller,
      `reword task ${task.id}`,
      "its own work is judged by these words; ask whoever gave it the task",
    );
  }
  if (action === "drop" && !directs(caller)) {
    return deny(caller, `drop task ${task.id}`, "only leads, coordinators and the operator drop tasks");
  }
  if (action === "close" && isCodeTask(task) && task.mergeState !== "abandoned") {
    return deny(caller, `close task ${task.id}`, "it has code to land, and landing closes it");
  }
  if (directs(caller) || action === "change" || action === "claim") return undefined;
  return heldByAnother(task, caller.name);
}

/** Leads and coordinators divide work among others, so tasks, groups and claims of others are theirs to arrange. */
export function directs(caller: Caller): boolean {
  return caller.kind !== "agent" || isOneOf(caller.capability, ["lead", "coordinator"]);
}

/** Why the caller may not arrange this, when only directing agents may. */
export function forbiddenToArrange(caller: Caller, action: string): Refusal | undefined {
  return directs(caller) ? undefined : deny(caller, action, "only leads, coordinators and the operator arrange work");
}

/**
 * Leads write specs for others. A scout writes its findings into the spec of its own task. The use case decides of
 * which tasks a lead writes the spec, by the agents that work on them.
 */
export function forbiddenToSpecify(caller: Caller, taskId: string): Refusal | undefined {
  if (caller.kind !== "agent" || isOneOf(caller.capability, ["lead"])) return undefined;
  if (!isOneOf(caller.capability, ["scout"])) {
    return notToSpecify(caller, taskId, "only leads, scouts and the operator write specs");
  }
  return caller.taskId === taskId ? undefined : notToSpecify(caller, taskId, "a scout writes the spec of its own task");
}

export const notToSpecify = (caller: Caller, taskId: string, why: string): Refusal =>
  deny(caller, `write the spec of task ${taskId}`, why);

/** Something of this task waits for the merge queue, or went through it. */
export const isCodeTask = (task: Pick<Task, "mergeState">): boolean => task.mergeState !== "none";

/** The refusal when another agent than `name` holds the task. */
export function heldByAnother(task: Pick<Task, "id" | "claimedBy">, name: string): Refusal | undefined {
  if (task.claimedBy === null || task.claimedBy === name) return undefined;
  return { kind: "task-held", task: task.id, holder: task.claimedBy };
}

const isOneOf = (capability: Capability, wanted: readonly Capability[]): boolean =>
  wanted.includes(canonical(capability));

const deny = (caller: Caller, action: string, why: string): Refusal => ({
  kind: "not-allowed",
  action,
  caller: caller.name,
  why,
});
