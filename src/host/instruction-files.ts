import { existsSync, lstatSync, mkdirSync, readFileSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import { instructionMark } from "../domain/role/assignment.ts";
import { errorCode, writeAtomically } from "./file-access.ts";

export interface WorktreeFile {
  readonly worktree: string;
  /** Relative to the worktree. */
  readonly file: string;
  readonly text: string;
  /** No turn has run there yet, so a file that is missing is not one that an agent deleted. */
  readonly untouched: boolean;
}

/**
 * Puts a file of ours into an agent's worktree so that no commit picks it up: a `.gitignore` beside it names both. Git's
 * own list of exclusions would not do, for all worktrees share it with the user's checkout. False when it cannot be done
 * without touching what is not ours; nothing is changed then.
 */
export function placeIgnored({ worktree, file, text, untouched }: WorktreeFile): boolean {
  const path = join(worktree, file);
  const dir = dirname(path);
  const ignore = join(dir, ".gitignore");
  // At the top the project has a `.gitignore` of its own, or may get one.
  if (dir === worktree || leadsOut(worktree, dir) || isInTheWay(worktree, dir)) return false;
  const rules = `${ignoreMark}\n/.gitignore\n/${basename(path)}\n`;
  const known = textOf(ignore);
  const ours = known?.startsWith(ignoreMark) === true;
  if (known !== undefined && !ours) return false;
  const before = textOf(path);
  const free = before === undefined ? ours || untouched : before.startsWith(instructionMark);
  if (!free) return false;
  mkdirSync(dir, { recursive: true });
  if (known !== rules) writeAtomically(ignore, rules);
  if (before !== text) writeAtomically(path, text);
  return true;
}

/** The paths that `placeIgnored` writes for an instruction file. */
export const placedPaths = (file: string): readonly string[] =>
  dirname(file) === "." ? [] : [file, join(dirname(file), ".gitignore")];

const ignoreMark = "# Written by overstory for the agent that works here; no part of the project.";

/** Undefined when nothing is there. What is there but is no file is not ours either. */
function textOf(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  return stat.isFile() ? readFileSync(path, "utf8") : "";
}

/** Something that is no directory has the name of one that we need. */
function isInTheWay(worktree: string, dir: string): boolean {
  if (dir === worktree) return false;
  const there = lstatIfThere(dir);
  return there === undefined ? isInTheWay(worktree, dirname(dir)) : !there.isDirectory();
}

function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** A link among the directories would take the file somewhere else. */
function leadsOut(worktree: string, dir: string): boolean {
  let there = dir;
  while (!existsSync(there) && there !== worktree) there = dirname(there);
  const home = realpathSync(worktree);
  const real = realpathSync(there);
  return real !== home && !real.startsWith(`${home}/`);
}
