import type { Argument, Command, Flag } from "../../command.ts";

const group: Argument = { name: "group", summary: "Id or name of the group", required: true, complete: "groups" };
const tasks: Argument = {
  name: "task-ids",
  summary: "Ids of the tasks",
  required: true,
  variadic: true,
  complete: "tasks",
};
const skip: Flag = { name: "skip-validation", summary: "Take ids of tasks that live in another tracker" };

/** `ov group`: tasks followed together. */
export const groupCommand: Command = {
  name: "group",
  summary: "Follow several tasks together",
  group: "Tasks",
  commands: [
    {
      name: "create",
      summary: "Start a group; you are told when all its tasks are closed",
      arguments: [{ name: "name", summary: "Name of the group", required: true }, tasks],
      flags: [skip],
      examples: [{ line: "ov group create release app-x1y2 app-z3w4", does: "follows two tasks together" }],
      run: async () => (await import("../group.ts")).create,
    },
    {
      name: "status",
      summary: "Show how far one group is, or every active one",
      arguments: [{ ...group, required: false }],
      run: async () => (await import("../group.ts")).status,
    },
    {
      name: "add",
      summary: "Add tasks to a group; a completed one is active again",
      arguments: [group, tasks],
      flags: [skip],
      run: async () => (await import("../group.ts")).add,
    },
    {
      name: "remove",
      summary: "Take tasks out of a group",
      arguments: [group, tasks],
      run: async () => (await import("../group.ts")).remove,
    },
    {
      name: "list",
      summary: "List all groups",
      run: async () => (await import("../group.ts")).list,
    },
  ],
};
