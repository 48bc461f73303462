import { claudeEvents, type HookEvent, hookEvents } from "./hook-event.ts";

/** The command of one event. It is also how our entries are recognised again. */
export const hookCommand = (event: HookEvent): string => `ov hook ${event}`;

/** Seconds. Far more than a hook takes; a database that is locked is waited for. */
const timeout = 30;

interface EntryOptions {
  /** A guard that cannot run denies. For agents: a person would be locked out by a program that is gone. */
  readonly failClosed: boolean;
}

/** One entry of a settings file: every tool, one process. */
export function hookEntry(event: HookEvent, { failClosed }: EntryOptions) {
  const guard = failClosed && event === "pre-tool" ? { onFailure: "block" } : {};
  const command = { type: "command", command: hookCommand(event), timeout, ...guard };
  const matcher = event === "pre-tool" || event === "post-tool" ? { matcher: "" } : {};
  return { ...matcher, hooks: [command] };
}

/** All entries, as the settings of a session that has no file for them. */
export const hookSettings = (options: EntryOptions) => ({
  hooks: Object.fromEntries(hookEvents.map((event) => [claudeEvents[event], [hookEntry(event, options)]])),
});

/**
 * The guard alone, for turns that nobody watches: what a turn does is read from its output, and its mail comes as its
 * input. Settings on the command line count before those of files, so none of these can switch hooks off; and a program
 * that is gone, or fails, denies: versions that do not know `onFailure` go by the exit code.
 */
export function guardSettings(guard: readonly string[]) {
  const command = `${guard.map(quoted).join(" ")} || exit 2`;
  const hook = { type: "command", command, timeout, onFailure: "block" };
  return { disableAllHooks: false, hooks: { [claudeEvents["pre-tool"]]: [{ matcher: "", hooks: [hook] }] } };
}

/** One word for a shell. */
const quoted = (word: string): string => (/^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** Whether a command of a settings file is one of ours, of whatever event. */
export const isOurCommand = (command: string): boolean => hookEvents.some((event) => hookCommand(event) === command);
