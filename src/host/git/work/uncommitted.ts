import { accessSync, constants } from "node:fs";
import { matchesGlob } from "../../../domain/text/glob.ts";
import { lstatIfThere } from "../../file-access.ts";
import { absolute, expectGit, type GitAnswer, zeroEnded } from "../git.ts";
import type { GitProject } from "../repository.ts";
import { lookAsGit, type OpenWorktree } from "../worktree/open-worktree.ts";
import { closedDirectories, openDirectories, passedOver } from "./closed-directories.ts";

/** What lies in a worktree but not in its index. Paths are bytes: file names need not be text. */
export interface Work {
  /** Tracked paths whose file may differ, is gone, or became something else. */
  readonly changed: readonly Buffer[];
  readonly untracked: readonly Buffer[];
  /** Not stored in a snapshot: too large, unreadable, or a git repository of its own. */
  readonly skipped: readonly Buffer[];
}

/**
 * Lists work without reading a file that its index entry says is unchanged; the index is our copy. Submodules count only by the commit they
 * are at: to look inside one, git would start another git there, under the submodule's own configuration.
 */
export async function findWork(project: GitProject, open: OpenWorktree, root: string): Promise<Work> {
  let [tracked, untracked] = await Promise.all([changedFiles(open), listUntracked(open)]);
  if (passedOver(untracked)) {
    openDirectories(root);
    [tracked, untracked] = await Promise.all([changedFiles(open), listUntracked(open)]);
  }
  const others = zeroEnded(expectGit(untracked, "listing untracked files").raw);
  const isProvided = providedFiles(project);
  const work: { changed: Buffer[]; untracked: Buffer[]; skipped: Buffer[] } = {
    changed: [],
    untracked: [],
    skipped: [...closedDirectories(root, untracked)],
  };
  for (const path of tracked) (canBeRead(absolute(root, path)) ? work.changed : work.skipped).push(path);
  for (const path of others) {
    if (isProvided(path.toString())) continue;
    (canBeStored(project, root, path) ? work.untracked : work.skipped).push(path);
  }
  return work;
}

const listUntracked = ({ own }: OpenWorktree): Promise<GitAnswer> =>
  own.git(["ls-files", "-z", "--others", "--exclude-standard"]);

/**
 * Are the files exactly those of HEAD: nothing staged, changed or untracked, and with `ignored` nothing ignored either?
 * One process; listing the changes takes several.
 */
export async function isAsCommitted(
  project: GitProject,
  open: OpenWorktree,
  sort: "work" | "ignored too",
): Promise<boolean> {
  const args = [...statusArgs, ...(sort === "work" ? [] : ["--ignored=traditional"])];
  const answer = expectGit(await lookAsGit(open, args), "the state of a worktree");
  if (passedOver(answer)) return false;
  const isProvided = providedFiles(project);
  return zeroEnded(answer.raw).every((entry) => {
    const isNew = entry.subarray(0, 2).toString() === "??";
    return isNew && isProvided(entry.subarray(statusColumns).toString());
  });
}

const statusArgs = [
  "status",
  "--porcelain=v1",
  "-z",
  "--no-renames",
  "--untracked-files=all",
  "--ignore-submodules=dirty",
];

/**
 * Staged, changed and untracked paths, and directories that cannot be listed. Files whose index entry is stale are
 * compared, not taken for changed.
 */
export async function dirtyPaths(open: OpenWorktree, root: string): Promise<readonly string[]> {
  const answer = expectGit(await lookAsGit(open, statusArgs), "the state of a worktree");
  const paths = zeroEnded(answer.raw).map((entry) => entry.subarray(statusColumns));
  return [...paths, ...closedDirectories(root, answer)].map((path) => path.toString());
}

/** Two letters and a space. */
const statusColumns = 3;

/** A file with a new time and the same content is not changed, also where only a filter makes the content the same. */
async function changedFiles(open: OpenWorktree): Promise<readonly Buffer[]> {
  // The answer, one for every change, is of no interest.
  await (await open.asGit()).git(["update-index", "-q", "--refresh"]);
  const args = ["diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=dirty"];
  return unique(zeroEnded(expectGit(await lookAsGit(open, args), "comparing files with the index").raw));
}

/** Git ends the name of a repository inside the worktree with a slash. */
export const isNested = (path: Buffer): boolean => path.at(-1) === slash;
const slash = 0x2f;

/** An unmerged path is listed once per stage. */
function unique(paths: readonly Buffer[]): readonly Buffer[] {
  return [...new Map(paths.map((path) => [path.toString("latin1"), path])).values()];
}

function canBeStored(project: GitProject, root: string, path: Buffer): boolean {
  if (isNested(path)) return false;
  const file = absolute(root, path);
  return canBeRead(file) && (lstatIfThere(file)?.size ?? 0) <= project.maxFileBytes;
}

/** Git stores that a file is gone, and a link without following it. It stores no pipe, socket or device. */
function canBeRead(file: Buffer): boolean {
  try {
    const stat = lstatIfThere(file);
    if (stat?.isFile() !== true) return stat === undefined || stat.isSymbolicLink() || stat.isDirectory();
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    // The only question here is whether it can be opened.
    return false;
  }
}

/**
 * Says which paths of a worktree we provided: files of `worktree.include` and files that we deployed. They are not the
 * agent's work.
 */
export function providedFiles({
  include,
  deployed,
}: Pick<GitProject, "include" | "deployed">): (path: string) => boolean {
  const rules = [...include, ...deployed].map((pattern) => rule(pattern));
  return (path) => rules.some((matches) => matches(path));
}

/** A pattern is a path, a directory with everything in it, or a glob. */
function rule(pattern: string): (path: string) => boolean {
  const plain = pattern.replace(/\/+$/, "");
  return (path) => path.startsWith(`${plain}/`) || matchesGlob(path, plain);
}
