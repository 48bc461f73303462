import { capabilityClasses } from "../../../../domain/agent/capability.ts";
import type { Command } from "../../command.ts";

export const slingCommand: Command = {
  name: "sling",
  summary: "Give a task to a new agent in its own worktree",
  details: "Reserves the agent and returns at once; the engine prepares the worktree and starts its first turn.",
  group: "Work",
  arguments: [{ name: "task", summary: "Id of the task", required: true, complete: "tasks" }],
  flags: [
    {
      name: "capability",
      value: "kind",
      summary: "What kind of agent (default: builder)",
      choices: capabilityClasses.taskScoped,
    },
    { name: "name", value: "name", summary: "Name of the agent (default: <capability>-<task>)" },
    { name: "spec", value: "path", summary: "Specification file", complete: "files" },
    { name: "files", value: "a,b", type: "list", summary: "Files or globs the agent owns" },
    { name: "parent", value: "agent", summary: "Parent agent (default: the caller)", complete: "agents" },
    { name: "runtime", value: "name", summary: "Agent CLI to run" },
    { name: "model", value: "name", summary: "Model to ask the runtime for" },
    { name: "base-branch", value: "branch", summary: "Where the worktree starts", complete: "branches" },
  ],
  examples: [{ line: "ov sling T1 --capability builder", does: "a builder starts on T1" }],
  run: async () => (await import("./sling.ts")).sling,
};
