import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { shellWord } from "../../../domain/text/shell-word.ts";
import type { GitLink, OwnedWorktree, SeatRequest } from "../../../ports/worktrees.ts";
import { makeWithin } from "../../file-access.ts";
import { passOnFull } from "../full-disk.ts";
import { wayOut } from "../leads-outside.ts";
import { scratchName } from "../leftovers.ts";
import { adminDirOf, gitLinkIn, ownPlace, standing, strangers, textOf } from "../places.ts";
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
  // First of all: it fails where the branch exists, and a branch without a worktree does no harm.
  if (!(await newRef(project, `refs/heads/${branch}`, base).catch(() => false))) return undefined;
  let admin: string | undefined;
  try {
    mkdirSync(path, { recursive: true });
    admin = register(project, { worktree: realpathSync(path), branch, lock });
    writeFileSync(join(path, ".git"), `gitdir: ${admin}\n`);
    return { admin, base };
  } catch (error) {
    rmSync(path, { recursive: true, force: true });
    // A record that stays would look as if we were still making the worktree.
    if (admin !== undefined) rmSync(admin, { recursive: true, force: true });
    // The earlier error says more, and a branch without a worktree does no harm.
    await dropRef(project, `refs/heads/${branch}`, base).catch(() => false);
    passOnFull(error, path);
    // Git meets any other problem too, and its message is better than ours.
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

/** Puts a worktree on git's list in one step: no reader sees half an entry. */
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

/** What a commit writes to in the git directory that all worktrees share. Branches of others are in `refs` too. */
const sharedByCommits = ["objects", "refs", "logs"];

export function writableRootsOf(commonDir: string, { path, kind }: OwnedWorktree): readonly string[] {
  if (kind === "root") return [];
  if (kind === "clone") return [path];
  const admin = adminDirOf({ commonDir }, path);
  return [path, ...(admin === undefined ? [] : [admin]), ...sharedByCommits.map((name) => join(commonDir, name))];
}

/**
 * Makes sure that git commands of an agent belong to its worktree. Without the `.git` of a worktree, git would look
 * further up and find the user's checkout; the agent would commit there.
 */
export async function ensureGitLink(
  commonDir: string,
  worktree: OwnedWorktree,
  { isEmptied }: { readonly isEmptied: () => Promise<boolean> },
): Promise<GitLink> {
  const { path, kind, agentName } = worktree;
  if (kind === "root") return { kind: "sound" };
  const found = standing(worktree);
  if (found === "nothing") {
    const moved = movedTo(commonDir, worktree);
    const back =
      moved === undefined
        ? ""
        : `; git has it at ${moved.place}, and this moves it back: ${moveBack(moved.place, path, moved)}`;
    return { kind: "broken", problem: `the worktree ${path} is gone${back}` };
  }
  if (found !== "own") {
    return { kind: "broken", problem: `${strangers[found]} stands at ${path} instead of the worktree of ${agentName}` };
  }
  if (kind === "clone") {
    const gitDir = join(path, ".git");
    if (ownPlace(gitDir) === undefined) return { kind: "broken", problem: `${path} has lost its git directory` };
    const problem = wayOut({ path, repository: { commonDir, root: dirname(commonDir) } }, gitDir);
    return problem === undefined ? { kind: "sound" } : { kind: "broken", problem };
  }
  const admin = adminDirOf({ commonDir }, path);
  if (admin === undefined) {
    return { kind: "broken", problem: `git has no record of the worktree ${path} any more (.git/worktrees)` };
  }
  const link = join(path, ".git");
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory() === true) {
    return { kind: "broken", problem: `a repository of its own was made in ${path}: its .git is a directory` };
  }
  const points = gitLinkIn(link);
  if (points !== undefined && resolve(path, points) === admin) return { kind: "sound" };
  // With a link, every file that is gone would be a deletion in the agent's next commit.
  if (readdirSync(path).length === 0 || (await isEmptied())) {
    return { kind: "broken", problem: `the files of the worktree ${path} are gone` };
  }
  // In one step, and over whatever is there: a link would be replaced, not followed.
  const written = join(admin, "link.new");
  writeFileSync(written, `gitdir: ${admin}\n`);
  renameSync(written, link);
  return { kind: "mended" };
}

interface Moved {
  readonly place: string;
  readonly isLocked: boolean;
}

/** Where `git worktree move` took a worktree: git has a record of its branch, whose directory is elsewhere. */
function movedTo(commonDir: string, { path, branch }: OwnedWorktree): Moved | undefined {
  const all = join(commonDir, "worktrees");
  for (const name of existsSync(all) ? readdirSync(all) : []) {
    const link = textOf(join(all, name, "gitdir"))?.trim();
    const isOnBranch = textOf(join(all, name, "HEAD"))?.trim() === `ref: refs/heads/${branch}`;
    const place = link === undefined ? path : dirname(resolve(join(all, name), link));
    if (isOnBranch && place !== path && existsSync(place))
      return { place, isLocked: existsSync(join(all, name, "locked")) };
  }
  return undefined;
}

/** What to type when a worktree was moved. */
export const moveBack = (from: string, to: string, { isLocked }: { readonly isLocked: boolean }): string => {
  const unlock = isLocked ? `git worktree unlock ${shellWord(from)} && ` : "";
  return `${unlock}git worktree move ${shellWord(from)} ${shellWord(to)}`;
};
