import { toolSummary } from "../../domain/event/tool-call.ts";
import { type HookEvent, type HookFormat, type HookInput, hookEvents } from "../../domain/hook/hook.ts";
import { exactShellWord } from "../../domain/text/shell-word.ts";
import type { GuardCommand } from "../../ports/runtime.ts";
import { type Fields, fields, number, text } from "../shared/json-fields.ts";
import { claudeToolUse } from "./tools.ts";

/** What Claude Code calls them. */
export const claudeEvents: Readonly<Record<HookEvent, string>> = {
  "session-start": "SessionStart",
  "user-prompt": "UserPromptSubmit",
  "pre-tool": "PreToolUse",
  "post-tool": "PostToolUse",
  stop: "Stop",
  "pre-compact": "PreCompact",
  "session-end": "SessionEnd",
};

/** Hooks as Claude Code calls them: JSON on standard input, JSON on standard output. */
export const claudeHooks: HookFormat = {
  read: readHookInput,
  context: (event, additionalContext) => ({
    hookSpecificOutput: { hookEventName: claudeEvents[event], additionalContext },
  }),
  goOn: (reason) => ({ decision: "block", reason }),
};

function readHookInput(given: string | undefined): HookInput | undefined {
  const told = objectIn(given);
  if (told === undefined) return undefined;
  const tool = text(told.tool_name) ?? null;
  return {
    tool,
    toolInput: told.tool_input,
    summary: toolSummary(told.tool_input),
    durationMs: number(told.duration_ms) ?? null,
    use: claudeToolUse(tool ?? "", told.tool_input),
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

/** The command of one event. It is also how our entries are recognised again. */
export const hookCommand = (event: HookEvent): string => `ov hook ${event}`;

/** Seconds. Far more than a hook takes; a database that is locked is waited for. */
const timeout = 30;

interface EntryOptions {
  /** A guard that cannot run denies. For agents: a person would be locked out by a program that is gone. */
  readonly failClosed: boolean;
  /** Where it is known; otherwise our program is looked for by its name. */
  readonly guard?: Pick<GuardCommand, "program" | "digest"> | null;
}

/** One entry of a settings file: every tool, one process. */
export function hookEntry(event: HookEvent, { failClosed, guard }: EntryOptions) {
  const words = [...(guard?.program ?? ["ov"]), "hook", event];
  if (failClosed && event === "pre-tool")
    return guardEntry(guard === undefined || guard === null ? words : [...words, "--digest", guard.digest]);
  const command = { type: "command", command: words.map(exactShellWord).join(" "), timeout };
  const matcher = event === "pre-tool" || event === "post-tool" ? { matcher: "" } : {};
  return { ...matcher, hooks: [command] };
}

/** All entries, as the settings of a session that has no file for them. */
export const hookSettings = (options: EntryOptions) => ({
  ...(options.failClosed ? stayOn : {}),
  hooks: Object.fromEntries(hookEvents.map((event) => [claudeEvents[event], [hookEntry(event, options)]])),
});

/**
 * The guard alone, for turns that nobody watches: what a turn does is read from its output, and its mail comes as its
 * input.
 */
export const guardSettings = ({ program, rules, digest }: GuardCommand) => ({
  ...stayOn,
  hooks: {
    [claudeEvents["pre-tool"]]: [guardEntry([...program, "hook", "pre-tool", "--rules", rules, "--digest", digest])],
  },
});

/** Settings on the command line count before those of files, so none of these can switch hooks off. */
const stayOn = { disableAllHooks: false };

/** A program that is gone, or fails, denies: versions that do not know `onFailure` go by the exit code. */
function guardEntry(guard: readonly string[]) {
  const command = `${guard.map(exactShellWord).join(" ")} || exit 2`;
  return { matcher: "", hooks: [{ type: "command", command, timeout, onFailure: "block" }] };
}

/** Whether a command of a settings file is one of ours, of whatever event. */
export const isOurCommand = (command: string): boolean => hookEvents.some((event) => hookCommand(event) === command);

/**
 * Whether an earlier version (0.11) wrote the command: it calls `ov` or `overstory` for what one entry of ours does now,
 * perhaps behind settings of variables. Side by side with ours it would take mail twice.
 */
export const isEarlierCommand = (command: string): boolean =>
  /(?:^|[;&|]\s*|\s)(?:ov|overstory)\s+(?:log\s+(?:tool-start|tool-end|session-start|session-end)|prime|mail\s+check)\b/.test(
    command,
  );
