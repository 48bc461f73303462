import type { Argument, Command } from "../../command.ts";

const id: Argument = { name: "task-id", summary: "Task the spec belongs to", required: true, complete: "tasks" };

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
      arguments: [id],
      flags: [
        { name: "body", value: "text", summary: "The text; without it, standard input is read" },
        { name: "agent", value: "name", summary: "Who wrote it", complete: "agents" },
      ],
      examples: [{ line: "ov spec write app-x1y2 < plan.md", does: "keeps the file's text as the spec" }],
      run: async () => (await import("../spec.ts")).write,
    },
    {
      name: "read",
      summary: "Print the spec of a task",
      arguments: [id],
      run: async () => (await import("../spec.ts")).read,
    },
  ],
};
