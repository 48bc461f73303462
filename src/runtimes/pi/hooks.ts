import type { ToolKind, ToolUse } from "../../domain/guard/tool-use.ts";
import type { HookFormat } from "../../domain/hook/hook.ts";
import { exactShellWord } from "../../domain/text/shell-word.ts";
import type { GuardCommand, GuardLine } from "../../ports/runtime.ts";
import { askedByHook, guardCall, hookFormat, longestMs } from "../shared/hook-format.ts";
import { fields, text } from "../shared/json-fields.ts";
import { retryLine } from "../shared/retry-line.ts";
import { pathsIn } from "../shared/tool-paths.ts";

/** What Pi calls its tools, in the versions that we know. */
const kinds: Readonly<Record<string, ToolKind>> = {
  bash: "execute",
  read: "read",
  ls: "read",
  grep: "search",
  find: "search",
  edit: "edit",
  write: "edit",
};

/** What a use of a tool of Pi does, as its input tells. It has no tools of ours. */
function piToolUse(tool: string, input: unknown): ToolUse {
  const given = fields(input) ?? {};
  const filled = (name: string): string | undefined => text(given[name]) || undefined;
  return {
    kind: kinds[tool] ?? "other",
    command: filled("command") ?? null,
    paths: pathsIn(given).map(asPiReads),
    changes: ["content", "newText", "edits"].some((name) => given[name] !== undefined),
  };
}

/** Pi leaves an at sign out that stands before a path, and takes other spaces for plain ones. The guard knows the tilde. */
const asPiReads = (path: string): string =>
  path.replace(/^@/, "").replaceAll(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ");

/** Our extension below asks the guard, in the words of `hookFormat`. */
export const piHooks: HookFormat = hookFormat(piToolUse);

/**
 * Pi has no hooks. An extension asks the guard and waits for its answer. An extension that throws blocks the tool, and one
 * that cannot be loaded keeps Pi from starting. At a limit Pi sleeps as long as the provider says, without a word; the
 * extension hears the answer and says so.
 */
export const guardExtension = (guard: GuardCommand): string => `import { spawnSync } from "node:child_process";
import { writeSync } from "node:fs";

const [program, ...args] = ${JSON.stringify(guardCall(guard, "pi"))};

const ask = globalThis.fetch;
globalThis.fetch = async (...request) => {
  const response = await ask(...request);
  const seconds = Number(response.headers.get("retry-after"));
  if (response.status === 429 && seconds > 0) {
    const waitMs = seconds * 1000;
    const told = { type: "${retryLine}", attempt: 1, message: "429 from the provider", next: Date.now() + waitMs, waitMs };
    writeSync(1, "\\n" + JSON.stringify(told) + "\\n");
  }
  return response;
};

export default function (pi) {
  pi.on("tool_call", async ({ toolName, input }) => {
    const told = JSON.stringify({ tool_name: toolName, tool_input: input, cwd: process.cwd() });
    const { status, stderr } = spawnSync(program, args, { input: told, encoding: "utf8", timeout: ${longestMs} });
    if (status === 0) return undefined;
    return { block: true, reason: (stderr ?? "").trim() || "The guard could not be asked, so this tool was not allowed." };
  });
}
`;

/** How the extension asks before each tool, as a line of shell. */
export const guardLine = (guard: GuardCommand): GuardLine =>
  askedByHook(guardCall(guard, "pi").map(exactShellWord).join(" "));
