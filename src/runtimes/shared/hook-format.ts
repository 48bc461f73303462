import { toolSummary } from "../../domain/event/tool-call.ts";
import type { ToolUse } from "../../domain/guard/tool-use.ts";
import type { HookEvent, HookFormat, HookInput } from "../../domain/hook/hook.ts";
import { exactShellWord } from "../../domain/text/shell-word.ts";
import type { GuardCommand, GuardLine } from "../../ports/runtime.ts";
import { type Fields, fields, number, text } from "./json-fields.ts";

/** What the programs that have these hooks call the events. */
export const eventNames: Readonly<Record<HookEvent, string>> = {
  "session-start": "SessionStart",
  "user-prompt": "UserPromptSubmit",
  "pre-tool": "PreToolUse",
  "post-tool": "PostToolUse",
  stop: "Stop",
  "pre-compact": "PreCompact",
  "session-end": "SessionEnd",
};

/** What a use of a tool does; each program has its own names for tools and their inputs. `told`: all the hook was told. */
type ReadToolUse = (tool: string, input: unknown, told: Fields) => ToolUse;

/** Hooks as Claude Code brought them up and others took them over: JSON on standard input, JSON on standard output. */
export const hookFormat = (
  toolUse: ReadToolUse,
  /** For a program with names of its own for what it tells. */
  renamed: (told: Fields) => Fields = (told) => told,
): HookFormat => ({
  read: (given) => {
    const told = objectIn(given);
    return told === undefined ? undefined : readInput(renamed(told), toolUse);
  },
  context: (event, additionalContext) => ({
    hookSpecificOutput: { hookEventName: eventNames[event], additionalContext },
  }),
  allowance: () => null,
  denial: () => null,
  goOn: (reason) => ({ decision: "block", reason }),
});

/** Asks the guard about one use of a tool, which is told on standard input. It exits with 2 to deny, and says why. */
export const guardCall = ({ program, rules, digest }: GuardCommand, runtime: string): readonly string[] => [
  ...program,
  ...["hook", "pre-tool", "--rules", rules, "--digest", digest, "--runtime", runtime],
];

/** The longest that a guard may think. One that takes longer is killed, and the tool is denied. */
export const longestMs = 10_000;

/**
 * Such a call as a line of shell. Programs let a tool run when its hook takes too long. So the shell ends a guard that
 * computes for too long before they do, and what stands behind the line denies.
 */
export const shellCall = (words: readonly string[]): string =>
  `ulimit -t ${longestMs / 1_000} 2>/dev/null; ${words.map(exactShellWord).join(" ")}`;

/** Seconds for programs with a time limit of their own: a day. A silent turn is ended long before. */
export const programTimeout = 24 * 60 * 60;

/** How it is asked by programs that tell their hooks what Claude Code tells them. */
export const askedByHook = (line: string): GuardLine => ({
  line,
  told: (command, cwd) => JSON.stringify({ tool_name: "Bash", tool_input: { command }, cwd }),
});

function readInput(told: Fields, toolUse: ReadToolUse): HookInput {
  const tool = text(told.tool_name) ?? null;
  return {
    tool,
    toolInput: told.tool_input,
    summary: toolSummary(told.tool_input),
    durationMs: number(told.duration_ms) ?? null,
    use: toolUse(tool ?? "", told.tool_input, told),
    toolUseId: text(told.tool_use_id) ?? null,
    sessionId: text(told.session_id) ?? null,
    transcript: text(told.transcript_path) ?? null,
    cwd: text(told.cwd) ?? null,
    source: text(told.source) ?? null,
    continuing: told.stop_hook_active === true,
    subagent: text(told.agent_id) !== undefined,
  };
}

function objectIn(given: string | undefined): Fields | undefined {
  try {
    return fields(JSON.parse(given ?? ""));
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}
