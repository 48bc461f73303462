import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../domain/failure.ts";
import type { GuardMachine } from "../domain/guard/paths.ts";
import type { ToolGuard } from "../ports/runtime.ts";
import { readText } from "./file-access.ts";

/** Where the rules lie by which an agent's tools are guarded. */
export const rulesFile = (state: string, agentName: string): string => join(state, "agents", agentName, "guard.json");

type Environment = Readonly<Record<string, string | undefined>>;

export const toolGuard = (env: Environment, here: string, stateDir: () => Promise<string>): ToolGuard => ({
  here,
  rulesFileOf: async (agentName) => rulesFile(await stateDir(), agentName),
  rulesIn: (file) => {
    try {
      return readText(file);
    } catch (error) {
      // For any reason that keeps us from reading them: without rules nothing is allowed.
      if (error instanceof Failure || (error instanceof Error && "code" in error)) return undefined;
      throw error;
    }
  },
  digest: (text) => new Bun.CryptoHasher("sha256").update(text).digest("hex"),
  machine: () => guardMachine(env),
});

/** What the guard must know of this machine. The grammar of the shell is loaded when it is needed. */
export async function guardMachine(env: Environment): Promise<GuardMachine> {
  const { parseShell } = await import("./syntax/shell.ts");
  const temporary = ["/tmp", "/var/tmp", env.TMPDIR ?? ""].filter((dir) => dir.startsWith("/") && dir !== "/");
  return { parse: parseShell, places: { realPath: realPathOf, isDirectory, isMerging, home: env.HOME, temporary } };
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // Where it cannot be looked at, a shell may not get in either.
    return false;
  }
}

/** Git leaves one of these in its directory for the worktree until the merge or its like is done. */
function isMerging(worktree: string): boolean {
  // A missing worktree has no work that could be thrown away: this only asks about a possible command.
  if (!existsSync(worktree)) return true;
  const dir = gitDirOf(worktree);
  return halfDone.some((name) => existsSync(join(dir, name)));
}

const halfDone = ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "rebase-merge", "rebase-apply"];

/** A linked worktree has a file in the place of the directory. */
function gitDirOf(worktree: string): string {
  const place = join(worktree, ".git");
  if (lstatSync(place, { throwIfNoEntry: false })?.isFile() !== true) return place;
  return resolve(worktree, /^gitdir: (.+)/.exec(readText(place) ?? "")?.[1] ?? ".git");
}

/** Where an absolute path leads: links and `..` are followed as the system would, and what does not exist stays as named. */
export function realPathOf(path: string): string {
  let real = "/";
  for (const part of path.split("/")) {
    if (part === "" || part === ".") continue;
    real = part === ".." ? dirname(real) : followed(join(real, part));
  }
  return real;
}

function followed(path: string): string {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? realpathSync(path) : path;
  } catch (error) {
    // A link that leads nowhere, or a name below a file: nothing can be reached through it.
    if (error instanceof Error && "code" in error) return path;
    throw error;
  }
}
