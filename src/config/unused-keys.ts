import { isPlainName } from "./keys.ts";

const conflicts = "models that settle conflicts";
const expertise = "recorded expertise";
const logs = "settings of logs";
const terminals = "agents in a terminal";
const triage = "triage by a model";

/**
 * Keys that files of earlier versions have, or that are planned, and that no part of this version reads, each with the
 * part of the program it waits for. They are no keys of the table: they have no type and no default and cannot be set.
 * A file that has one is valid; a warning names the key. A key moves to the table with the code that reads it.
 */
export const unusedKeys: Readonly<Record<string, string>> = {
  "agents.manifestPath": "capabilities of the project's own",
  "logging.verbose": logs,
  "merge.aiResolveEnabled": conflicts,
  "merge.reimagineEnabled": conflicts,
  "mulch.domains": expertise,
  "mulch.enabled": expertise,
  "mulch.primeFormat": expertise,
  "runtime.claudeHeadlessByDefault": terminals,
  "runtime.printCommand": "single questions to a model",
  "runtime.shellInitDelayMs": terminals,
  "taskTracker.enabled": "the tools of task trackers",
  "watchdog.rpcTimeoutMs": "long-lived agents",
  "watchdog.tier1Enabled": triage,
  "watchdog.triageTimeoutMs": triage,
};

const patterns = Object.entries(unusedKeys).map(([pattern, part]) => ({ parts: pattern.split("."), part }));

/** Completes the sentence "`<key>` ..." for such a key in a file or a variable; undefined for all others. */
export function whyIgnored(path: readonly string[]): string | undefined {
  const part = partFor(path);
  return part === undefined ? undefined : `has no effect in this version and is ignored: it waits for ${part}`;
}

const partFor = (path: readonly string[]): string | undefined =>
  patterns.find(({ parts }) => parts.length === path.length && begins(parts, path))?.part;

/** Whether a path is a section in which all keys, or the keys of such names, are unused. */
export const isUnusedSection = (path: readonly string[]): boolean =>
  patterns.some(({ parts }) => parts.length > path.length && begins(parts, path));

/** The same for a key that is typed, to be set or explained. */
export function whyNoKey(dotted: string): string | undefined {
  const part = partFor(dotted.split("."));
  return part === undefined ? undefined : `is not used by this version: it waits for ${part}`;
}

const begins = (parts: readonly string[], path: readonly string[]): boolean =>
  path.every((name, at) => (parts[at] === "*" ? isPlainName(name) : parts[at] === name));
