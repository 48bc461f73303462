import type { ToolKind, ToolUse } from "../../domain/guard/tool-use.ts";
import { exactShellWord } from "../../domain/text/shell-word.ts";
import { type AcpCall, acpToolUse } from "../shared/acp/tool-calls.ts";
import { type Fields, fields, text } from "../shared/json-fields.ts";
import { pathsIn } from "../shared/tool-paths.ts";

/** What Gemini calls its tools, in the versions that we know; older names stay, for older versions. */
const kinds: Readonly<Record<string, ToolKind>> = {
  run_shell_command: "execute",
  write_file: "edit",
  replace: "edit",
  read_file: "read",
  read_many_files: "read",
  list_directory: "read",
  get_internal_docs: "read",
  list_mcp_resources: "read",
  read_mcp_resource: "read",
  glob: "search",
  grep_search: "search",
  search_file_content: "search",
  write_todos: "think",
  update_topic: "think",
  activate_skill: "think",
  complete_task: "think",
  web_fetch: "fetch",
  google_web_search: "fetch",
  ask_user: "ask",
  enter_plan_mode: "switch_mode",
  exit_plan_mode: "switch_mode",
  invoke_agent: "delegate",
  codebase_investigator: "delegate",
  generalist: "delegate",
  browser_agent: "delegate",
  tracker_create_task: "delegate",
  tracker_update_task: "delegate",
  tracker_add_dependency: "delegate",
};

/** What a use of a tool of Gemini does, as its input tells. `told`: everything that the hook was told. */
export function geminiToolUse(tool: string, input: unknown, told: Fields): ToolUse {
  const given = fields(input) ?? {};
  const filled = (name: string): string | undefined => text(given[name]) || undefined;
  const command = filled("command");
  const dir = filled("dir_path") ?? filled("directory");
  return {
    kind: isOwn(told) ? "own" : (kinds[tool] ?? "other"),
    // A command may be run in another directory than that in which Gemini stands.
    command: command === undefined ? null : dir === undefined ? command : `cd ${exactShellWord(dir)} && ${command}`,
    paths: pathsIn(given),
    changes: ["content", "new_string"].some((name) => filled(name) !== undefined),
  };
}

/** A tool of our own server, which checks the rights of its caller. Names of servers and tools run into each other. */
const isOwn = ({ mcp_context }: Fields): boolean => fields(mcp_context)?.server_name === "overstory";

/** Tools that start agents of its own, or wait for a person. Over ACP it would not ask about all of them. */
export const unattendedTools: readonly string[] = Object.entries(kinds).flatMap(([tool, kind]) =>
  kind === "delegate" || kind === "ask" || kind === "switch_mode" ? [tool] : [],
);

/** Over ACP the id of a call begins with the name of the tool. */
export const toolOfCall = ({ id, name }: AcpCall): string => id.split("__")[0] || name;

/** Over ACP the title of a command is the command, and the directory for it stands among the contents. */
export function geminiAcpToolUse(call: AcpCall): ToolUse {
  const use = acpToolUse(call);
  const dir = call.texts.flatMap((words) => /^\[in ([^\]]+)\]/.exec(words)?.[1] ?? []).at(0);
  if (use.kind !== "execute" || use.command === null || dir === undefined) return use;
  return { ...use, command: `cd ${exactShellWord(dir)} && ${use.command}` };
}
