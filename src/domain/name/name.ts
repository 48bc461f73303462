import { type InvalidInput, invalid } from "../refusal.ts";
import { no, ok, type Result } from "../result.ts";

/** Addresses that always exist and that no worker may take as its name. */
export const reservedNames = ["operator", "orchestrator", "coordinator", "monitor", "system", "integration"] as const;

/** Names that a person would take for a part of the program or for a person. */
const misleadingNames: readonly string[] = ["engine", "overstory", "ov", "watchdog", "merge-queue", "human", "user"];

/** Folders of ours among those that are named after agents. */
const folderNames: readonly string[] = ["merge"];

const agentPattern = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
const taskPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/**
 * Names become directories, branch parts and file names, so one rule serves all: letters, digits, `_`, `-`, single dots
 * inside; never `..` nor a trailing `.lock` (git refuses both).
 */
export function agentName(text: string, field = "name"): Result<string, InvalidInput> {
  return check(text, field, agentPattern, "lower-case letters");
}

/** Task and spec ids may also have capitals. */
export function taskId(text: string, field = "task"): Result<string, InvalidInput> {
  return check(text, field, taskPattern, "letters");
}

function check(text: string, field: string, pattern: RegExp, letters: string): Result<string, InvalidInput> {
  const bad = !pattern.test(text) || text.includes("..") || text.endsWith(".") || text.endsWith(".lock");
  if (!bad) return ok(text);
  const problem = `must be 1 to 64 ${letters}, digits, "_", "-" or single dots, starting with a letter or digit`;
  return no(invalid(field, problem, { value: text }));
}

export const isReserved = (name: string): boolean => (reservedNames as readonly string[]).includes(name);

/** No new agent may have such a name: its mail would be read as mail of the operator or the engine. */
export const isMisleading = (name: string): boolean => misleadingNames.includes(name);

/** No agent may have it: its files would lie among ours. */
export const isFolderName = (name: string): boolean => folderNames.includes(name);

/** What a text must look like beyond being text; `must` completes the sentence "must be ...". */
export interface Shape {
  readonly must: string;
  readonly fits: (text: string) => boolean;
}

/** A leading dash would be read by git as an option. */
export const branchName: Shape = {
  must: "a branch name git accepts",
  fits: (text) =>
    /^[^-/.\s~^:?*[\\][^\s~^:?*[\\]*$/.test(text) &&
    !/\p{Cc}|\.\.|\/\/|\/\.|@\{|[/.]$|\.lock(\/|$)/u.test(text) &&
    text !== "@" &&
    text !== "HEAD",
};

/** Such paths are joined to directories we delete and copy in, so none may lead out of them. */
export const relativePath: Shape = {
  must: "a path inside the project, without a leading / and without ..",
  fits: (text) => !/^([/\\~]|[A-Za-z]:)/.test(text) && !text.split(/[/\\]/).includes(".."),
};
