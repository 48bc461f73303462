import { type HookEvent, type HookFormat, hookEvents } from "../../domain/hook/hook.ts";
import { exactShellWord } from "../../domain/text/shell-word.ts";
import type { GuardCommand, GuardLine } from "../../ports/runtime.ts";
import { askedByHook, eventNames, hookFormat, programTimeout, shellCall } from "../shared/hook-format.ts";
import { claudeToolUse } from "./tools.ts";

/** Hooks as Claude Code calls them. */
export const claudeHooks: HookFormat = {
  ...hookFormat(claudeToolUse),
  // Said for each tool, so that a turn needs no mode in which the program asks about nothing: a guard that says nothing
  // allows nothing.
  allowance: (note) => allowance(note === undefined ? {} : { additionalContext: note }),
};

const allowance = (more: object) => ({
  hookSpecificOutput: { hookEventName: eventNames["pre-tool"], permissionDecision: "allow", ...more },
});

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
    return entryOf(
      failingClosed(line(guard === undefined || guard === null ? words : [...words, "--digest", guard.digest])),
    );
  const command = { type: "command", command: line(words), timeout };
  const matcher = event === "pre-tool" || event === "post-tool" ? { matcher: "" } : {};
  return { ...matcher, hooks: [command] };
}

/** All entries, as the settings of a session that has no file for them. */
export const hookSettings = (options: EntryOptions) => ({
  ...(options.failClosed ? stayOn : {}),
  hooks: Object.fromEntries(hookEvents.map((event) => [eventNames[event], [hookEntry(event, options)]])),
});

/**
 * The guard alone, for turns without a person: what a turn does is read from its output, and its mail comes as its
 * input. Where there is to be no guard, everything is allowed in its place.
 */
export const guardSettings = (guard: GuardCommand | null) => ({
  ...stayOn,
  hooks: { [eventNames["pre-tool"]]: [entryOf(guard === null ? allowAll : guardLine(guard).line, programTimeout)] },
});

const allowAll = `printf '%s' ${exactShellWord(JSON.stringify(allowance({})))}`;

/** What the program has its shell run before each tool. */
export const guardLine = ({ program, rules, digest }: GuardCommand): GuardLine =>
  askedByHook(failingClosed(shellCall([...program, "hook", "pre-tool", "--rules", rules, "--digest", digest])));

/** Settings on the command line count before those of files, so none of these can switch hooks off. */
const stayOn = { disableAllHooks: false };

/** A program that is gone, or fails, denies: versions that do not know `onFailure` go by the exit code. */
const failingClosed = (guard: string): string => `${guard} || exit 2`;

const line = (words: readonly string[]): string => words.map(exactShellWord).join(" ");

const entryOf = (command: string, seconds = timeout) => ({
  matcher: "",
  hooks: [{ type: "command", command, timeout: seconds, onFailure: "block" }],
});

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
