import type { HookFormat } from "../../domain/hook/hook.ts";
import type { GuardCommand, GuardLine } from "../../ports/runtime.ts";
import { guardCall, hookFormat, programTimeout, shellCall } from "../shared/hook-format.ts";
import { type Fields, fields, text } from "../shared/json-fields.ts";
import { copilotToolUse } from "./tools.ts";

/** Copilot has names of its own for what it tells. It shows its model why a tool is denied only where JSON says so. */
export const copilotHooks: HookFormat = {
  ...hookFormat(copilotToolUse, ({ toolName, toolArgs, sessionId, cwd }) => ({
    tool_name: toolName,
    tool_input: inputIn(toolArgs),
    session_id: sessionId,
    cwd,
  })),
  context: (_, additionalContext) => ({ additionalContext }),
  denial: (reason) => ({ permissionDecision: "deny", permissionDecisionReason: reason }),
};

/** Some versions give the input of a tool as text. */
function inputIn(told: unknown): unknown {
  try {
    return fields(JSON.parse(text(told) ?? "")) ?? told;
  } catch {
    return told;
  }
}

/** The files of a plugin that has the guard as its only part. A hook that takes too long lets the tool run. */
export const guardPlugin = (guard: GuardCommand): Readonly<Record<"plugin.json" | "hooks.json", Fields>> => ({
  "plugin.json": { name: "overstory-guard", version: "1.0.0", description: "Asks ov", hooks: "hooks.json" },
  "hooks.json": {
    version: 1,
    hooks: { preToolUse: [{ type: "command", bash: guardLine(guard).line, timeoutSec: programTimeout }] },
  },
});

/** How the program asks before each tool. */
export const guardLine = (guard: GuardCommand): GuardLine => ({
  line: `${shellCall(guardCall(guard, "copilot"))} || exit 2`,
  told: (command, cwd) => JSON.stringify({ toolName: "bash", toolArgs: { command }, cwd }),
});
