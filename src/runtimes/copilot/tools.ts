import type { ToolKind, ToolUse } from "../../domain/guard/tool-use.ts";
import { type AcpCall, acpToolUse } from "../shared/acp/tool-calls.ts";
import { fields, text } from "../shared/json-fields.ts";
import { patchedFiles } from "../shared/patch.ts";
import { pathsIn } from "../shared/tool-paths.ts";

/** What Copilot calls its tools, in the versions that we know. */
const kinds: Readonly<Record<string, ToolKind>> = {
  bash: "execute",
  write_bash: "execute",
  read_bash: "read",
  list_bash: "read",
  stop_bash: "think",
  view: "read",
  fetch_copilot_cli_documentation: "read",
  session_store_sql: "read",
  create: "edit",
  edit: "edit",
  str_replace_editor: "edit",
  apply_patch: "edit",
  grep: "search",
  glob: "search",
  // Tables of its own session.
  sql: "think",
  skill: "think",
  report_intent: "think",
  update_todo: "think",
  web_fetch: "fetch",
  web_search: "fetch",
  ask_user: "ask",
  exit_plan_mode: "switch_mode",
  task: "delegate",
  read_agent: "delegate",
  write_agent: "delegate",
  list_agents: "delegate",
};

/** Tools of our own server; they check the rights of their caller. No name of ours has a hyphen. */
const own = /^overstory-[a-z_]+$/;

/** What a use of a tool of Copilot does, as its input tells. */
export function copilotToolUse(tool: string, input: unknown): ToolUse {
  const kind: ToolKind = own.test(tool) ? "own" : (kinds[tool] ?? "other");
  const given = fields(input) ?? {};
  const filled = (name: string): string | undefined => text(given[name]) || undefined;
  const patches = [text(input), filled("patch"), filled("input")].flatMap((patch) => patch ?? []);
  return {
    kind,
    // To a tool for files, `command` is what it does to the file.
    command:
      kind === "edit" ? null : (filled("command") ?? (tool === "write_bash" ? filled("input") : undefined) ?? null),
    paths: [...pathsIn(given), ...patches.flatMap(patchedFiles)],
    changes: kind === "edit" || ["file_text", "new_str", "content"].some((name) => filled(name) !== undefined),
  };
}

/** Over ACP a call of ours is first named as its model knows the tool; of its own tools only the inputs tell. */
export function copilotAcpToolUse(call: AcpCall): ToolUse {
  if (call.kind === "other" && own.test(call.name)) return copilotToolUse(call.name, call.input);
  return call.kind === "edit" ? copilotToolUse("edit", call.input) : acpToolUse(call);
}
