import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ageMs, allProcesses, type ProcessEntry } from "./process-table.ts";

/** `unknown`: this system does not show what its processes do, or one of another user could be the holder. */
export type LockHolder =
  | { readonly kind: "process"; readonly pid: number; readonly command: string }
  | { readonly kind: "nobody" }
  | { readonly kind: "unknown" };

export interface LockQuestion {
  /** A lock file of git. */
  readonly path: string;
  /**
   * The git directories whose commands could hold the lock: the checkout's own, and the one that all worktrees share.
   */
  readonly gitDir: string;
  /** How long the lock file has been there. */
  readonly ageMs: number;
}

/**
 * Which living process could hold this lock file. Git writes no owner into it, and keeps it closed while an editor is
 * open. So the holder is a process that has the file open, or a git command in this repository that was there when
 * the file appeared.
 */
export function lockHolder({ path, gitDir, ageMs: lockAge }: LockQuestion): LockHolder {
  if (process.platform !== "linux") return { kind: "unknown" };
  const wanted = { file: realpathSync(dirname(path)) + path.slice(dirname(path).length), gitDir: realpathSync(gitDir) };
  let unknown = false;
  for (const entry of allProcesses()) {
    if (entry.defunct || entry.pid === process.pid) continue;
    const isGit = /^git(-|$)/.test(nameOf(entry.pid));
    // The time stamps come from two clocks, so a second either way decides nothing.
    if (isGit && ageMs(entry) + 1_000 < lockAge) continue;
    const answer = hasOpen(entry, wanted.file) ?? (isGit ? worksIn(entry, wanted.gitDir) : false);
    if (answer === "unknown") unknown = isGit || unknown;
    else if (answer) return { kind: "process", pid: entry.pid, command: commandOf(entry.pid) };
  }
  return { kind: unknown ? "unknown" : "nobody" };
}

/** True when it has the file open; undefined when it has not, so that the next question decides. */
function hasOpen({ pid }: ProcessEntry, file: string): true | "unknown" | undefined {
  let open: string[];
  try {
    open = readdirSync(`/proc/${pid}/fd`);
  } catch (error) {
    return isGone(error) ? undefined : "unknown";
  }
  return open.some((name) => link(`/proc/${pid}/fd/${name}`) === file) ? true : undefined;
}

function worksIn({ pid }: ProcessEntry, gitDir: string): boolean | "unknown" {
  const named = variable(pid, "GIT_DIR");
  const cwd = link(`/proc/${pid}/cwd`);
  if (cwd === undefined) return existsSync(`/proc/${pid}`) ? "unknown" : false;
  const found = named === undefined ? gitDirAbove(cwd) : resolve(cwd, named);
  if (found === undefined) return false;
  const common = commonDirOf(found);
  return [found, common].includes(gitDir);
}

/** The git directory of the checkout that a directory is in, or that the directory is in itself. */
function gitDirAbove(from: string): string | undefined {
  for (let dir = from; ; dir = dirname(dir)) {
    const isGitDir = ["objects", "commondir"].some((name) => existsSync(join(dir, name)));
    if (isGitDir && existsSync(join(dir, "HEAD"))) return dir;
    const text = read(join(dir, ".git"));
    const linked = text === undefined ? undefined : /^gitdir: (.*)/.exec(text)?.[1];
    if (linked !== undefined) return resolve(dir, linked);
    if (existsSync(join(dir, ".git", "HEAD"))) return join(dir, ".git");
    if (dir === dirname(dir)) return undefined;
  }
}

function commonDirOf(gitDir: string): string {
  const text = read(join(gitDir, "commondir"))?.trim();
  return text === undefined ? gitDir : resolve(gitDir, text);
}

const nameOf = (pid: number): string => read(`/proc/${pid}/comm`)?.trim() ?? "";

/** The command line, shortened, because a commit message may be in it. */
function commandOf(pid: number): string {
  const words = (read(`/proc/${pid}/cmdline`) ?? "").split("\0").filter((word) => word !== "");
  const line = words.slice(0, 3).join(" ").replace(/\s+/g, " ");
  return line === "" ? nameOf(pid) : line.length > 60 ? `${line.slice(0, 57)}...` : line;
}

function variable(pid: number, name: string): string | undefined {
  const pairs = (read(`/proc/${pid}/environ`) ?? "").split("\0");
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Processes end, and others' are not shown, while we look: both mean that there is nothing to read. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isGone(error) || isHidden(error)) return undefined;
    throw error;
  }
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (isGone(error) || isHidden(error)) return undefined;
    throw error;
  }
}

const isGone = (error: unknown): boolean => ["ENOENT", "ESRCH", "ENOTDIR", "EISDIR"].includes(codeOf(error));
/** A name that is too long to be read is not that of a lock file: git had to write the name. */
const isHidden = (error: unknown): boolean => ["EACCES", "EPERM", "EINVAL", "ENAMETOOLONG"].includes(codeOf(error));
const codeOf = (error: unknown): string => (error instanceof Error && "code" in error ? String(error.code) : "");
