import type { ToolKind, ToolUse } from "../../domain/guard/tool-use.ts";
import type { HookFormat } from "../../domain/hook/hook.ts";
import { exactShellWord } from "../../domain/text/shell-word.ts";
import type { GuardCommand, GuardLine } from "../../ports/runtime.ts";
import { type AcpCall, acpToolUse } from "../shared/acp/tool-calls.ts";
import { askedByHook, guardCall, hookFormat, longestMs } from "../shared/hook-format.ts";
import { fields, text } from "../shared/json-fields.ts";
import { patchedFiles } from "../shared/patch.ts";
import { retryLine } from "../shared/retry-line.ts";
import { pathsIn } from "../shared/tool-paths.ts";

/** What OpenCode calls its tools, in the versions that we know. */
const kinds: Readonly<Record<string, ToolKind>> = {
  bash: "execute",
  edit: "edit",
  write: "edit",
  multiedit: "edit",
  patch: "edit",
  apply_patch: "edit",
  read: "read",
  list: "read",
  lsp: "read",
  grep: "search",
  glob: "search",
  codesearch: "search",
  todowrite: "think",
  todoread: "think",
  skill: "think",
  webfetch: "fetch",
  websearch: "fetch",
  question: "ask",
  plan_enter: "switch_mode",
  plan_exit: "switch_mode",
  task: "delegate",
  // It calls other tools, which need not be shown to the guard.
  batch: "delegate",
};

/** Tools of our own server; they check the rights of their caller. */
const own = /^overstory_/;

/** What a use of a tool of OpenCode does, as its input tells. */
export function opencodeToolUse(tool: string, input: unknown): ToolUse {
  const given = fields(input) ?? {};
  const filled = (name: string): string | undefined => text(given[name]) || undefined;
  const [command, dir, patch] = [filled("command"), filled("workdir"), filled("patchText") ?? ""];
  return {
    kind: own.test(tool) ? "own" : (kinds[tool] ?? "other"),
    // A command may be run in another directory than that in which OpenCode stands.
    command: command === undefined ? null : dir === undefined ? command : `cd ${exactShellWord(dir)} && ${command}`,
    paths: [...pathsIn(given), ...patchedFiles(patch)],
    changes: ["content", "newString", "patchText"].some((name) => filled(name) !== undefined),
  };
}

/** The types of the lines in which our plugin tells what one call of the model took, and what went wrong. */
export const stepLine = "overstory.step";
export const problemLine = "overstory.problem";

/** Our plugin below asks the guard, in the words of `hookFormat`. */
export const opencodeHooks: HookFormat = hookFormat(opencodeToolUse);

/**
 * OpenCode has no hooks that are commands. A plugin asks the guard and waits for its answer; what it throws is the answer
 * of the tool. OpenCode goes on without a plugin that cannot be loaded. So its settings deny every tool, and only the plugin
 * itself allows them.
 */
export const guardPlugin = (guard: GuardCommand): string => `import { spawnSync } from "node:child_process";

const [program, ...args] = ${JSON.stringify(guardCall(guard, "opencode"))};

let told = Date.now();

export const OverstoryGuard = async ({ directory }) => ({
  config: async (config) => {
    config.permission = { "*": "allow" };
  },
  "tool.execute.before": async ({ tool, sessionID, callID }, { args: input }) => {
    const told = JSON.stringify({ tool_name: tool, tool_input: input, cwd: directory, session_id: sessionID });
    const { status, stderr } = spawnSync(program, args, { input: told, encoding: "utf8", timeout: ${longestMs} });
    if (status === 0) {
      const call = { type: "${callLine}", sessionID, callID, tool, input };
      process.stdout.write("\\n" + JSON.stringify(call) + "\\n");
      return;
    }
    throw new Error((stderr ?? "").trim() || "The guard could not be asked, so this tool was not allowed.");
  },
  event: async ({ event }) => {
    if (event.type.startsWith("message.part.") && Date.now() - told > ${aliveMs}) {
      told = Date.now();
      process.stdout.write('\\n{"type":"overstory.alive"}\\n');
    }
    ${tellRetries}
  },
});
`;

/** Says with a line of its own that a call of the model will be tried again. */
const tellRetries = `const { sessionID, status } = event.type === "session.status" ? event.properties : {};
    if (status?.type !== "retry") return;
    const { attempt, message, next } = status;
    const retry = { type: "${retryLine}", sessionID, attempt, message, next, waitMs: Math.max(0, next - Date.now()) };
    process.stdout.write("\\n" + JSON.stringify(retry) + "\\n");`;

/**
 * Over ACP OpenCode tells the tokens of the last call of its model alone, nothing while it waits to call it again, and no
 * status when the provider refuses. This plugin prints a line for each of them. Without it, only that is not known.
 */
export const tellingPlugin = `const told = new Set();

export const OverstoryTeller = async () => ({
  event: async ({ event }) => {
    const part = event.type === "message.part.updated" ? event.properties.part : undefined;
    if (part?.type === "step-finish" && !told.has(part.id)) {
      told.add(part.id);
      const { id, sessionID, tokens, cost } = part;
      process.stdout.write("\\n" + JSON.stringify({ type: "${stepLine}", id, sessionID, tokens, cost }) + "\\n");
    }
    if (event.type === "session.error") {
      const { sessionID, error } = event.properties;
      process.stdout.write("\\n" + JSON.stringify({ type: "${problemLine}", sessionID, error }) + "\\n");
    }
    ${tellRetries}
  },
});
`;

/** OpenCode prints an answer when it is whole. While one comes in, the plugin says so this often. */
const aliveMs = 5_000;

/** OpenCode prints the call of a tool when it has ended. The type of the line by which the plugin says that one begins. */
export const callLine = "overstory.call";

/** What is allowed where the plugin does not speak: nothing. */
export const withoutGuard = { "*": "deny" };

/** Over ACP: it asks before each tool, and does without those that start agents of its own or wait for a person. */
export const askFirst: Readonly<Record<string, "ask" | "deny">> = Object.fromEntries([
  ["*", "ask"],
  ...Object.entries(kinds).flatMap(([tool, kind]) =>
    kind === "delegate" || kind === "ask" || kind === "switch_mode" ? [[tool, "deny"]] : [],
  ),
]);

/** Over ACP the first title of a call is the name of its tool. What it is asked about may name less than was told before. */
export function opencodeAcpToolUse(call: AcpCall): ToolUse {
  if (kinds[call.name] === undefined) return acpToolUse(call);
  const use = opencodeToolUse(call.name, { ...call.input, workdir: call.input.cwd ?? call.input.workdir });
  return use.kind === "edit" ? { ...use, paths: [...new Set([...use.paths, ...call.paths])] } : use;
}

/** How the plugin asks before each tool, as a line of shell. */
export const guardLine = (guard: GuardCommand): GuardLine =>
  askedByHook(guardCall(guard, "opencode").map(exactShellWord).join(" "));
