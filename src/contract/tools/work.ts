import { object, type Schema } from "../../domain/schema/schema.ts";
import { highestPriority, lowestPriority } from "../../domain/task/fields.ts";
import { taskStatuses, taskTypes } from "../../domain/task/task.ts";
import { anyText, choice, flag, someTexts, text, texts, whole } from "./input.ts";
import type { ToolFor } from "./tool.ts";

const priority = whole({ min: highestPriority, max: lowestPriority }, "0 is most urgent, 4 least");

const fields: Readonly<Record<string, Schema>> = {
  description: anyText("Goal and acceptance"),
  type: choice(taskTypes, "Kind of task"),
  priority,
  files: texts("Files or globs it owns: nobody else changes them meanwhile"),
  shares: texts("Files that other tasks change too, such as a registry, a changelog or a list of exports"),
  labels: texts("Labels"),
  parent: anyText("Task it is a part of"),
  criteria: {
    type: "array",
    items: { type: "integer", minimum: 1 },
    description: "Numbers of criteria that it serves",
  },
};

const working = taskStatuses.filter((status) => status !== "closed");

/** Tools about tasks, their specifications, and the run that they belong to. */
export const workTools = {
  task_ready: () => ({
    description: "Lists tasks that could be started now, most urgent first.",
    readOnly: true,
    input: object({}, { limit: whole({ min: 1 }, "At most so many") }),
  }),
  task_show: () => ({
    description: "Shows a task; your own when no id is given.",
    readOnly: true,
    input: object({}, { id: text("Id of the task") }),
  }),
  task_create: () => ({
    description: "Adds a task.",
    readOnly: false,
    input: object(
      { title: text("What is to be done, in one line") },
      { id: text("Id; chosen for you when left out"), blocked_by: texts("Tasks that must be closed first"), ...fields },
    ),
  }),
  task_update: () => ({
    description: "Changes fields of a task; your own when no id is given. What is left out stays.",
    readOnly: false,
    input: object(
      {},
      { id: text("Id of the task"), title: text("New title"), status: choice(working, "New status"), ...fields },
    ),
  }),
  task_close: () => ({
    description: "Closes a task without code. Tasks with code are closed by landing.",
    readOnly: false,
    input: object({ id: text("Id of the task") }, { reason: anyText("Why it is over") }),
  }),
  task_drop: () => ({
    description: "Gives up a task of yours: stops and releases its agents, keeps their branches.",
    readOnly: false,
    input: object(
      { id: text("Id of the task"), reason: text("Why") },
      { with_dependents: flag("Also the tasks that wait for it") },
    ),
  }),
  task_dep: () => ({
    description: "Makes one task wait for another, or no longer wait.",
    readOnly: false,
    input: object(
      { id: text("The task that waits"), depends_on: text("What it waits for") },
      { remove: flag("No longer wait") },
    ),
  }),
  criteria_list: () => ({
    description: "Shows the checklist of your run: each criterion, the tasks that serve it, and its proof.",
    readOnly: true,
    input: object({}),
  }),
  criteria_add: () => ({
    description: "Adds numbered criteria to your run: what has to be true when the objective is reached. They stay.",
    readOnly: false,
    input: object({ criteria: someTexts("One sentence for each criterion") }),
  }),
  criteria_amend: () => ({
    description: "Puts a criterion into other words, once after each change of the objective by the operator.",
    readOnly: false,
    input: object({ number: whole({ min: 1 }, "Number of the criterion"), text: text("Its new words") }),
  }),
  criteria_prove: () => ({
    description:
      "Names what shows a criterion, one of file, test and commit. It counts only when it is there on the landed tree.",
    readOnly: false,
    input: object(
      { number: whole({ min: 1 }, "Number of the criterion") },
      {
        file: text("A file of the landed tree"),
        test: text("<path>:<name>, a test file and a name that stands in it"),
        commit: text("Id of a commit that has landed in this run"),
      },
    ),
  }),
  run_complete: () => ({
    description: "Ends your run, or names each thing that is open and what to do about it.",
    readOnly: false,
    input: object({}),
  }),
  spec_write: () => ({
    description: "Replaces the specification of a task. Long findings belong here.",
    readOnly: false,
    input: object({ task_id: text("Id of the task"), body: text("The text, as Markdown") }),
  }),
  spec_read: () => ({
    description: "Reads the specification of a task; of your own when no id is given.",
    readOnly: true,
    input: object({}, { task_id: text("Id of the task") }),
  }),
} as const satisfies Record<string, ToolFor>;
