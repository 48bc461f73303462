import { lstatSync, readdirSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorCode } from "../file-access.ts";
import type { GitProject } from "./repository.ts";
import { removeAll } from "./work/trash.ts";

/** The beginning of the name of a directory for one operation of this process; a number and a dash follow. */
export const scratchName = (purpose: "view" | "files" | "link" | "unlink" | "ov-merge"): string =>
  `${purpose}-${process.pid}-`;

const ours = /^(?:view|files|link|unlink|ov-merge)-(\d+)-/;

/** Removes what operations that were killed left in a directory of ours. */
export function sweepScratch(scratch: string, now: number): void {
  for (const name of namesIn(scratch)) {
    const path = join(scratch, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    const age = now - (stat?.mtimeMs ?? now);
    if (age > longestOperationMs || (age > aWhileMs && isOfDead(name))) removeAll(path);
  }
}

/** Also those in the directory for temporary files, and git's records of worktrees in which nothing is. */
export function sweepLeftovers({ scratch, repository }: GitProject, now: number): void {
  sweepScratch(scratch, now);
  const temporary = tmpdir();
  for (const name of namesIn(temporary)) {
    const path = join(temporary, name);
    const stat = name.startsWith("ov-merge-") ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    const isMine = stat?.isDirectory() === true && stat.uid === process.getuid?.();
    if (isMine && now - stat.mtimeMs > aWhileMs && isOfDead(name)) removeAll(path);
  }
  const records = join(repository.commonDir, "worktrees");
  for (const name of namesIn(records)) removeIfEmpty(join(records, name), now);
}

const longestOperationMs = 6 * 3600 * 1000;
/** A process that we cannot see, as one in a sandbox, is done with its directory by then. */
const aWhileMs = 600_000;

function isOfDead(name: string): boolean {
  const pid = Number(ours.exec(name)?.[1] ?? 0);
  if (pid === 0) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === "ESRCH";
  }
}

/** Git makes the directory of a record first. An empty directory was left by a git command that was killed. */
function removeIfEmpty(dir: string, now: number): void {
  const stat = lstatSync(dir, { throwIfNoEntry: false });
  if (stat?.isDirectory() !== true || now - stat.mtimeMs < aWhileMs) return;
  try {
    rmdirSync(dir);
  } catch (error) {
    const code = errorCode(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOENT") throw error;
  }
}

function namesIn(dir: string): readonly string[] {
  return lstatSync(dir, { throwIfNoEntry: false })?.isDirectory() === true ? readdirSync(dir) : [];
}
