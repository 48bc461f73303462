import { capabilities } from "../../../../domain/agent/capability.ts";
import type { Command } from "../../command.ts";

export const slingCommand: Command = {
  name: "sling",
  summary: "Give a task to a new agent in its own worktree",
  details:
    "Reserves the agent and returns at once; the engine prepares the worktree and starts its first turn. " +
    "A text with spaces instead of a task id makes the task on the fly.",
  group: "Work",
  arguments: [{ name: "task", summary: "Id of the task, or what is to be done", required: true, complete: "tasks" }],
  flags: [
    { name: "capability", value: "kind", summary: "What kind of agent (default: builder)", choices: capabilities },
    { name: "name", value: "name", summary: "Name of the agent (default: <capability>-<task>)" },
    { name: "title", value: "text", summary: "Make the task with this title" },
    { name: "spec", value: "path", summary: "Specification file", complete: "files" },
    { name: "files", value: "a,b", type: "list", summary: "Files or globs the agent owns (default: its task's)" },
    { name: "siblings", value: "a,b", type: "list", summary: "Agents working beside it, named in its instructions" },
    { name: "parent", value: "agent", summary: "Parent agent (default: the caller)", complete: "agents" },
    {
      name: "run",
      value: "id|new",
      summary: "Run it belongs to (default: its parent's, else the newest active one)",
      complete: "runs",
    },
    { name: "depth", value: "n", type: "integer", min: 0, summary: "Expected depth; the parent decides it" },
    { name: "skip-scout", summary: "Tell a lead to go straight to building" },
    { name: "skip-review", summary: "Tell a lead to verify by itself" },
    { name: "skip-task-check", summary: "Neither look the task up nor claim it" },
    { name: "force-hierarchy", summary: "Spawn what the parent may not spawn (operator only)" },
    {
      name: "max-agents",
      value: "n",
      type: "integer",
      min: 0,
      summary: "Children the parent may have, for this spawn",
    },
    {
      name: "dispatch-max-agents",
      value: "n",
      type: "integer",
      min: 0,
      summary: "Agents a lead may have at work at once; its instructions say so",
    },
    { name: "scout-check", negatable: true, summary: "Warn when the parent never sent a scout (default)" },
    { name: "allow-overlap", summary: "Accept files that another agent owns" },
    { name: "runtime", value: "name", summary: "Agent CLI to run" },
    { name: "model", value: "name", summary: "Model to ask the runtime for" },
    { name: "base-branch", value: "branch", summary: "Where the worktree starts", complete: "branches" },
    { name: "profile", value: "name", summary: "Working style, named in its instructions" },
    { name: "headless", negatable: true, summary: "Run without a terminal (the only way so far)" },
    { name: "recover", summary: "Go on where the ended agent of this task or name stopped" },
    { name: "fresh", summary: "With --recover: in a new worktree and conversation; the old work is kept aside" },
    { name: "wait", optionalValue: "done", summary: "Wait for the first turn, or with =done for the agent's end" },
    { name: "dry-run", summary: "Show what would happen and change nothing" },
  ],
  examples: [
    { line: "ov sling T1 --capability builder", does: "a builder starts on T1" },
    { line: 'ov sling "Add a greeting" --files src/greet.ts', does: "makes the task, then a builder starts on it" },
    { line: "ov sling T1 --recover", does: "the ended agent of T1 goes on" },
  ],
  run: async () => (await import("../sling.ts")).sling,
};
