import { taskStatuses, taskTypes } from "../../../../domain/task/task.ts";
import type { Argument, Command, Flag } from "../../command.ts";

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
  { name: "assignee", value: "name", summary: "Who is meant to do it" },
  { name: "labels", value: "a,b", type: "list", summary: "Words to find it by" },
  { name: "files", value: "a,b", type: "list", summary: "Files the task owns", complete: "files" },
  { name: "parent", value: "task-id", summary: "Task it is a part of", complete: "tasks" },
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
      arguments: [{ name: "title", summary: "One line that says what it is" }],
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
      run: async () => (await import("../task.ts")).create,
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
      run: async () => (await import("../task.ts")).list,
    },
    {
      name: "ready",
      summary: "List what can be started now: open, unclaimed, waiting for nothing",
      flags: [limit],
      run: async () => (await import("../task.ts")).ready,
    },
    {
      name: "show",
      summary: "Show one task",
      arguments: [id],
      run: async () => (await import("../task.ts")).show,
    },
    {
      name: "update",
      summary: "Change fields of a task; an empty text empties a field",
      arguments: [id],
      flags: [
        { name: "title", value: "text", summary: "One line that says what it is" },
        {
          name: "status",
          value: "status",
          choices: taskStatuses.filter((status) => status !== "closed"),
          summary: "Where it stands; open gives a claim back",
        },
        ...fields,
      ],
      run: async () => (await import("../task.ts")).update,
    },
    {
      name: "claim",
      summary: "Take a task; of several who try, one gets it",
      arguments: [id],
      flags: [{ name: "by", value: "name", summary: "Give it to this agent instead", complete: "agents" }],
      run: async () => (await import("../task.ts")).claim,
    },
    {
      name: "close",
      summary: "End a task and show what can be started because of it",
      arguments: [id],
      flags: [{ name: "reason", value: "text", summary: "Why it is closed" }],
      run: async () => (await import("../task.ts")).close,
    },
    {
      name: "reopen",
      summary: "Open a closed task again",
      arguments: [id],
      run: async () => (await import("../task.ts")).reopen,
    },
    {
      name: "dep",
      summary: "Say which task waits for which",
      commands: [
        {
          name: "add",
          summary: "Make a task wait for another",
          arguments: [id, { name: "depends-on", summary: "Task to wait for", required: true, complete: "tasks" }],
          run: async () => (await import("../task.ts")).add,
        },
        {
          name: "rm",
          summary: "Make a task no longer wait for another",
          arguments: [id, { name: "depends-on", summary: "Task it waits for", required: true, complete: "tasks" }],
          run: async () => (await import("../task.ts")).rm,
        },
      ],
    },
    {
      name: "import",
      summary: "Take over tasks from a seeds file; newer lines win",
      arguments: [file],
      run: async () => (await import("../task.ts")).importFile,
    },
    {
      name: "export",
      summary: "Write all tasks to a seeds file that git can merge",
      arguments: [file],
      run: async () => (await import("../task.ts")).exportFile,
    },
  ],
};
