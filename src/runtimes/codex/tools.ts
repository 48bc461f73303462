import { shells } from "../../domain/guard/shell/wrappers.ts";
import type { ToolKind, ToolUse } from "../../domain/guard/tool-use.ts";
import { exactShellWord } from "../../domain/text/shell-word.ts";
import { fields, list, text } from "../shared/json-fields.ts";
import { hasPatch, patchedFiles } from "../shared/patch.ts";
import { pathsIn } from "../shared/tool-paths.ts";

/** What Codex calls its tools, to its model and to hooks, in the versions that we know. */
const kinds: Readonly<Record<string, ToolKind>> = {
  Bash: "execute",
  shell: "execute",
  shell_command: "execute",
  local_shell: "execute",
  exec_command: "execute",
  write_stdin: "execute",
  apply_patch: "edit",
  view_image: "read",
  read_file: "read",
  list_dir: "read",
  list_mcp_resources: "read",
  list_mcp_resource_templates: "read",
  read_mcp_resource: "read",
  grep_files: "search",
  tool_search: "search",
  update_plan: "think",
  get_goal: "think",
  create_goal: "think",
  update_goal: "think",
  get_context_remaining: "think",
  web_search: "fetch",
  request_user_input: "ask",
  request_permissions: "ask",
  spawn_agent: "delegate",
  send_input: "delegate",
  resume_agent: "delegate",
  wait_agent: "delegate",
  close_agent: "delegate",
};

/** Tools of our own server; they check the rights of their caller. */
const ownPrefix = /^mcp__overstory(?:__|$)/;

/** What a use of a tool of Codex does, as its input tells. A patch names its files in its own text. */
export function codexToolUse(tool: string, input: unknown): ToolUse {
  const kind: ToolKind = ownPrefix.test(tool) ? "own" : (kinds[tool] ?? "other");
  const given = fields(input) ?? {};
  const command = commandIn(given.command) ?? commandIn(given.cmd) ?? null;
  const told = [given.command, given.cmd, given.input, given.patch, input].flatMap(textsIn);
  // `apply_patch` in a command is no program: Codex applies the patch itself.
  const patched = told.filter((each) => kind === "edit" || hasPatch(each)).flatMap(patchedFiles);
  const paths = [...pathsIn(given), ...patched];
  if (kind === "edit") return { kind, command: null, paths, changes: true };
  return { kind, command, paths, changes: patched.length > 0 };
}

const textsIn = (value: unknown): readonly string[] => [value].flat().flatMap((each) => text(each) ?? []);

/** A command is one text, or the words of it. */
function commandIn(value: unknown): string | undefined {
  const words = list(value).flatMap((word) => text(word) ?? []);
  // The shell that Codex would have started anyway.
  const [shell = "", option = "", script] = words;
  const isScript = words.length === 3 && /^-l?c$/.test(option) && shells.includes(shell.replace(/^.*\//, ""));
  return text(value) || (isScript ? script : words.map(exactShellWord).join(" ")) || undefined;
}
