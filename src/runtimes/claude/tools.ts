import { type ToolKind, type ToolUse, toolKinds } from "../../domain/guard/tool-use.ts";
import { fields, text } from "../shared/json-fields.ts";
import { commandIn, pathsIn } from "../shared/tool-paths.ts";

/** What Claude Code calls its tools, in the versions that we know; older names stay, for older versions. */
const names: Readonly<Partial<Record<ToolKind, readonly string[]>>> = {
  read: ["Read", "NotebookRead", "LS", "LSP", "BashOutput", "ListMcpResourcesTool", "ReadMcpResourceTool"],
  search: ["Glob", "Grep", "ToolSearch"],
  edit: ["Write", "Edit", "MultiEdit", "NotebookEdit"],
  execute: ["Bash", "Monitor"],
  think: ["TodoWrite", "TodoRead", "Skill", "StructuredOutput", "KillShell", "KillBash"],
  fetch: ["WebFetch", "WebSearch"],
  ask: ["AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree"],
  delegate: [
    "Agent",
    "Task",
    "TeamCreate",
    "TeamDelete",
    "SendMessage",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "TaskOutput",
    "TaskStop",
    "CronCreate",
    "CronDelete",
    "CronList",
    "ScheduleWakeup",
    "RemoteTrigger",
    "Workflow",
  ],
};

/** Our own server. Its tools check the rights of their caller. */
export const ownServer = "overstory";
const ownPrefix = `mcp__${ownServer}__`;

/** What a use of a tool of Claude Code does, as its input tells. */
export function claudeToolUse(tool: string, input: unknown): ToolUse {
  const given = fields(input) ?? {};
  const filled = (name: string): string | undefined => text(given[name]) || undefined;
  const kind = claudeToolKind(tool);
  return {
    kind,
    // A tool that we do not know may have another name for it.
    command: (kind === "other" ? commandIn(given) : filled("command")) ?? null,
    paths: pathsIn(given),
    changes: contentFields.some((name) => filled(name) !== undefined),
  };
}

/** Fields with new text for a file. */
const contentFields = ["content", "new_string", "new_source", "patch", "diff"];

/** What a tool of Claude Code does; `other` for a name that we do not know. */
export function claudeToolKind(name: string): ToolKind {
  if (name.startsWith(ownPrefix)) return "own";
  return toolKinds.find((kind) => names[kind]?.includes(name) === true) ?? "other";
}
