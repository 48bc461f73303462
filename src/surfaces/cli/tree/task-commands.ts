import { taskStatuses, taskTypes } from "../../../domain/task/task.ts";
import type { Argument, Command, Flag } from "../command.ts";

const id: Argument = { name: "task-id", summary: "Id of the task", required: true, complete: "tasks" };
const file: Argument = {
  name: "file",
  summary: "File to use instead of .seeds/issues.jsonl; - for standard input or output",
  complete: "files",
};

const fields: readonly Flag[] = [
  { name: "description", value: "text", summary: "What is to be done; - reads it from standard input" },
  { name: "type", value: "type", choices: taskTypes, summary: "What kind of work it is" },
  { name: "priority", value: "0-4", type: "integer", min: 0, summary: "0 is most urgent, 4 least" },
  { name: "assignee", value: "name", summary: "Agent or person who is meant to do it" },
  { name: "labels", value: "a,b", type: "list", summary: "Words to find it by" },
  { name: "files", value: "a,b", type: "list", summary: "Files the task owns", complete: "files" },
  { name: "shares", value: "a,b", type: "list", summary: "Files that other tasks change too", complete: "files" },
  { name: "parent", value: "task-id", summary: "Task it is a part of", complete: "tasks" },
  { name: "criteria", value: "1,3", type: "list", summary: "Criteria of its run that it serves (ov run criteria)" },
];
const limit: Flag = { name: "limit", value: "n", type: "integer", min: 1, summary: "Show at most this many" };

/** `ov task`: the built-in tracker. */
export const taskCommand: Command = {
  name: "task",
  summary: "Create, divide, claim and close tasks",
  group: "Tasks",
  commands: [
    {
      name: "create",
      summary: "Add a task",
      arguments: [{ name: "title", summary: "Title of the task, in one line" }],
      flags: [
        { name: "title", value: "text", summary: "The same as a flag" },
        { name: "id", value: "task-id", summary: "Id to use instead of a generated one" },
        {
          name: "blocked-by",
          value: "a,b",
          type: "list",
          summary: "Tasks that must be closed first",
          complete: "tasks",
        },
        ...fields,
      ],
      examples: [
        { line: 'ov task create "Parse dates" --priority 1', does: "adds an urgent task" },
        { line: 'ov task create "Use the parser" --blocked-by app-x1y2', does: "adds one that waits for another" },
      ],
      run: async () => (await import("../commands/task.ts")).create,
    },
    {
      name: "list",
      summary: "List tasks, most urgent first",
      flags: [
        { name: "status", value: "status", choices: taskStatuses, summary: "Only tasks with this status" },
        { name: "run", value: "run-id", summary: "Only tasks of this run", complete: "runs" },
        { name: "all", summary: "Closed tasks too" },
        limit,
      ],
      run: async () => (await import("../commands/task.ts")).list,
    },
    {
      name: "ready",
      summary: "List what can be started now: open, unclaimed, waiting for nothing",
      flags: [limit],
      run: async () => (await import("../commands/task.ts")).ready,
    },
    {
      name: "show",
      summary: "Show one task",
      arguments: [id],
      run: async () => (await import("../commands/task.ts")).show,
    },
    {
      name: "update",
      summary: "Change fields of a task; an empty text empties a field, and a list replaces the earlier one",
      arguments: [id],
      flags: [
        { name: "title", value: "text", summary: "Title of the task, in one line" },
        {
          name: "status",
          value: "status",
          choices: taskStatuses.filter((status) => status !== "closed"),
          summary: "New status; open gives the claim back",
        },
        ...fields,
      ],
      run: async () => (await import("../commands/task.ts")).update,
    },
    {
      name: "claim",
      summary: "Claim a task; if several agents try, one gets it",
      arguments: [id],
      flags: [{ name: "by", value: "name", summary: "Give it to this agent instead", complete: "agents" }],
      run: async () => (await import("../commands/task.ts")).claim,
    },
    {
      name: "close",
      summary: "End a task and show what can be started because of it",
      arguments: [id],
      flags: [{ name: "reason", value: "text", summary: "Why it is closed" }],
      run: async () => (await import("../commands/task.ts")).close,
    },
    {
      name: "drop",
      summary: "Give up a task: stop and release its agents, keep their work as branches, tell those concerned",
      arguments: [id],
      flags: [
        { name: "reason", value: "text", required: true, summary: "Why it is not wanted any more" },
        {
          name: "with-dependents",
          summary: "Also drop the tasks that wait for it; without this they can be started without its work",
        },
      ],
      examples: [
        {
          line: 'ov task drop app-x1y2 --reason "no CSV export after all"',
          does: "drops the task and its parts",
        },
      ],
      run: async () => (await import("../commands/task.ts")).drop,
    },
    {
      name: "reopen",
      summary: "Open a closed task again",
      arguments: [id],
      run: async () => (await import("../commands/task.ts")).reopen,
    },
    {
      name: "dep",
      summary: "Change which tasks a task waits for",
      commands: [
        {
          name: "add",
          summary: "Make a task wait for another",
          arguments: [id, { name: "depends-on", summary: "Task to wait for", required: true, complete: "tasks" }],
          run: async () => (await import("../commands/task.ts")).add,
        },
        {
          name: "rm",
          summary: "Make a task no longer wait for another",
          arguments: [id, { name: "depends-on", summary: "Task it waits for", required: true, complete: "tasks" }],
          run: async () => (await import("../commands/task.ts")).rm,
        },
      ],
    },
    {
      name: "import",
      summary: "Take over tasks from a seeds file; newer lines win",
      arguments: [file],
      run: async () => (await import("../commands/task.ts")).importFile,
    },
    {
      name: "export",
      summary: "Write all tasks to a seeds file that git can merge",
      arguments: [file],
      run: async () => (await import("../commands/task.ts")).exportFile,
    },
  ],
};

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
      run: async () => (await import("../commands/group.ts")).create,
    },
    {
      name: "status",
      summary: "Show how far one group is, or every active one",
      arguments: [{ ...group, required: false }],
      run: async () => (await import("../commands/group.ts")).status,
    },
    {
      name: "add",
      summary: "Add tasks to a group; a completed one is active again",
      arguments: [group, tasks],
      flags: [skip],
      run: async () => (await import("../commands/group.ts")).add,
    },
    {
      name: "remove",
      summary: "Take tasks out of a group",
      arguments: [group, tasks],
      run: async () => (await import("../commands/group.ts")).remove,
    },
    {
      name: "list",
      summary: "List all groups",
      run: async () => (await import("../commands/group.ts")).list,
    },
  ],
};

const specTask: Argument = { name: "task-id", summary: "Task the spec belongs to", required: true, complete: "tasks" };

/** `ov spec`: the written specification of a task. */
export const specCommand: Command = {
  name: "spec",
  summary: "Write and read the specification of a task",
  group: "Tasks",
  commands: [
    {
      name: "write",
      summary: "Replace the spec of a task",
      details: "The text comes from --body or from standard input, and may have at most 1 MiB.",
      arguments: [specTask],
      flags: [
        { name: "body", value: "text", summary: "The text; without it, standard input is read" },
        { name: "agent", value: "name", summary: "Who wrote it", complete: "agents" },
      ],
      examples: [{ line: "ov spec write app-x1y2 < plan.md", does: "keeps the file's text as the spec" }],
      run: async () => (await import("../commands/task.ts")).write,
    },
    {
      name: "read",
      summary: "Print the spec of a task",
      arguments: [specTask],
      run: async () => (await import("../commands/task.ts")).read,
    },
  ],
};
