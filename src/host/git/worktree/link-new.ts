import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import type { SeatRequest } from "../../../ports/worktrees.ts";
import { makeWithin } from "../../file-access.ts";
import { passOnFull } from "../full-disk.ts";
import { scratchName } from "../leftovers.ts";
import { adminDirOf } from "../places.ts";
import { dropRef, newRef } from "../refs.ts";
import type { GitProject, Repository } from "../repository.ts";

/** A worktree without files that is on git's list, locked. */
export interface Linked {
  /** Where git keeps its state. */
  readonly admin: string;
  readonly base: string;
}

/**
 * Does what `git worktree add --no-checkout --lock -b` does, with one process instead of four: where many agents start
 * together, these processes are most of what they wait for. Undefined where anything is in the way, or the repository
 * is kept in a manner that only git knows; then git itself has to be asked.
 */
export async function linkNew(project: GitProject, request: SeatRequest, lock: string): Promise<Linked | undefined> {
  const { repository } = project;
  const { path, branch, baseRef } = request;
  const base = repository.isOrdinary ? baseWhereFree(repository, path, baseRef) : undefined;
  if (base === undefined) return undefined;
  // First of all: it fails where the branch exists, and a branch without a worktree is in nobody's way.
  if (!(await newRef(project, `refs/heads/${branch}`, base).catch(() => false))) return undefined;
  let admin: string | undefined;
  try {
    mkdirSync(path, { recursive: true });
    admin = register(project, { worktree: realpathSync(path), branch, lock });
    writeFileSync(join(path, ".git"), `gitdir: ${admin}\n`);
    return { admin, base };
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    // Left on the list, it would look as if we were still at it.
    if (admin !== undefined) rmSync(admin, { recursive: true, force: true });
    // What went wrong before says more, and a branch without a worktree is in nobody's way.
    await dropRef(project, `refs/heads/${branch}`, base).catch(() => false);
    passOnFull(error, path);
    // Whatever else it was, git meets it too, and its words are better than ours.
    return undefined;
  }
}

/** Where to begin, unless something is in the way. */
function baseWhereFree(repository: Repository, path: string, baseRef: string): string | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return undefined;
    return adminDirOf(repository, path) === undefined ? looseBranch(repository, baseRef) : undefined;
  } catch {
    // Refs are packed and entries taken away while we look: git, which waits its turn, sees it whole.
    return undefined;
  }
}

/** Resolves a commit id, or a branch that has a file of its own. */
function looseBranch({ commonDir }: Repository, name: string): string | undefined {
  if (/^[0-9a-f]{40,64}$/.test(name)) return name;
  const file = join(commonDir, "refs", "heads", name);
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const text = readFileSync(file, "utf8").trim();
  return /^[0-9a-f]{40,64}$/.test(text) ? text : undefined;
}

/** Puts a worktree on git's list in one step: nobody sees half an entry. */
function register(
  { repository, scratch }: GitProject,
  { worktree, branch, lock }: { readonly worktree: string; readonly branch: string; readonly lock: string },
): string {
  makeWithin(scratch, 3);
  const made = mkdtempSync(join(scratch, scratchName("link")));
  try {
    writeFileSync(join(made, "locked"), lock);
    writeFileSync(join(made, "gitdir"), `${join(worktree, ".git")}\n`);
    writeFileSync(join(made, "commondir"), "../..\n");
    writeFileSync(join(made, "HEAD"), `ref: refs/heads/${branch}\n`);
    return putAmong(join(repository.commonDir, "worktrees"), basename(worktree), made);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

/** Moves a complete record into git's directory of worktrees, in one step, under the first free name. */
export function putAmong(all: string, name: string, made: string): string {
  mkdirSync(all, { recursive: true });
  for (let number = 0; ; number++) {
    const admin = join(all, `${name}${number === 0 ? "" : number}`);
    try {
      renameSync(made, admin);
      return admin;
    } catch (error) {
      if (!isTaken(error) || number >= mostNamesakes) throw error;
    }
  }
}

/** Worktrees elsewhere may end in the same name. */
const mostNamesakes = 1_000;

const isTaken = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOTEMPTY" || error.code === "EEXIST");
