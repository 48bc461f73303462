import { existsSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../../domain/text/shell-word.ts";
import type { Seat, SeatRequest } from "../../ports/worktrees.ts";
import { expectRoom, passOnFull } from "./full-disk.ts";
import { git } from "./git.ts";
import { moveBack } from "./git-link.ts";
import { type Linked, linkNew } from "./link-new.ts";
import { type Entry, listEntries } from "./list.ts";
import { adminDirOf } from "./places.ts";
import { populate } from "./populate.ts";
import { isPreparation, ownLock, preparerIsGone } from "./preparer.ts";
import { commitAt, dropRef } from "./refs.ts";
import { hasLostRecord, relink } from "./relink.ts";
import type { GitProject } from "./repository.ts";
import { isWorktreeOf } from "./stand-in.ts";
import { gitWorktree } from "./worktree-command.ts";

/** A seat, or in words why there is none. A full disk is no such reason: it is thrown. */
export type Created = { readonly seat: Omit<Seat, "identity"> } | { readonly problem: string };

/**
 * Adds a linked worktree. Git adds it without files and locked; the files are written by a git that knows no filter;
 * only then the lock is opened. So a worktree without our lock is complete, whoever died in between.
 */
export async function createLinked(project: GitProject, request: SeatRequest, inTurn: InTurn): Promise<Created> {
  const created = await tryToCreate(project, request, inTurn);
  if ("seat" in created) return created;
  // The git of a preparer that was killed may stand in the way half done; a moment later it can be seen for what it is.
  await new Promise((resolve) => setTimeout(resolve, afterlifeMs));
  return tryToCreate(project, request, inTurn);
}

/** Runs one change of the list of worktrees after the other. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

async function tryToCreate(project: GitProject, request: SeatRequest, inTurn: InTurn): Promise<Created> {
  const linked = await linkNew(project, request, ownLock());
  const added = linked === undefined ? await inTurn(() => add(project, request)) : { ...linked, tip: undefined };
  if (!("admin" in added)) return added;
  const { admin, base, tip } = added;
  try {
    await populate(project, { path: request.path, index: join(admin, "index"), commit: tip ?? base });
    unlock(admin);
  } catch (error) {
    await inTurn(() => undo(project, request));
    // What went wrong before says more, and a branch without a worktree is in nobody's way.
    if (tip === undefined) await dropRef(project, `refs/heads/${request.branch}`, base).catch(() => false);
    passOnFull(error, request.path);
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  const { path, branch } = request;
  return tip === undefined ? { seat: { path, branch, baseCommit: base } } : seatOf(project, request);
}

interface Added extends Linked {
  /** Where the branch stood, when it was there before. */
  readonly tip: string | undefined;
}

async function add(project: GitProject, request: SeatRequest): Promise<Added | Created> {
  const { root } = project.repository;
  const [entries, base, tip] = await Promise.all([
    settledEntries(project, request),
    commitAt(project, request.baseRef),
    commitAt(project, `refs/heads/${request.branch}`),
  ]);
  // The agent may have left its own worktree on another branch, or in the middle of a rebase.
  const goesOn = request.identity != null && tip !== undefined;
  const isOnRecord = entries.some((entry) => isOf(request, entry) || (goesOn && entry.path === request.path));
  if (isOnRecord && (await isWorktreeOf(project, request))) return seatOf(project, request);
  const elsewhere = entries.find(
    ({ branch, path }) => branch === `refs/heads/${request.branch}` && path !== request.path,
  );
  if (elsewhere !== undefined) {
    const isMoved = request.identity != null && !existsSync(request.path) && existsSync(elsewhere.path);
    const back = `; if it was moved, move it back with: ${moveBack(elsewhere.path, request.path)}, then: ov recover ${request.agentName}`;
    return { problem: `${request.branch} is checked out at ${elsewhere.path}${isMoved ? back : ""}` };
  }
  if (hasLostRecord(project, request)) {
    const problem = await relink(project, request);
    return problem === undefined ? seatOf(project, request) : { problem };
  }
  const other = entries.find(({ path }) => path === request.path)?.branch;
  if (request.identity != null && tip === undefined && other != null) {
    const found = other.replace(/^refs\/heads\//, "");
    const back = `git branch -m ${shellWord(found)} ${shellWord(request.branch)}`;
    return {
      problem: `its worktree is on the branch ${found}, and its own branch ${request.branch} is gone; if it was renamed, rename it back with: ${back}, then: ov recover ${request.agentName}`,
    };
  }
  if (isTaken(request.path)) return { problem: "the directory exists and is not this agent's worktree" };
  if (base === undefined) return { problem: `there is no commit called ${request.baseRef}` };
  const checkout = tip === undefined ? ["-b", request.branch, request.path, base] : [request.path, request.branch];
  // Twice: a directory that was deleted by hand is still registered, perhaps locked.
  const options = ["--force", "--force", "--no-checkout", "--quiet", "--lock", "--reason", ownLock()];
  const added = await gitWorktree(root, "add", ...options, ...checkout);
  expectRoom(added, request.path);
  if (added.code !== 0) return { problem: added.err.trim() };
  const admin = adminDirOf(project.repository, request.path);
  if (admin === undefined) return { problem: "git added the worktree but does not list it" };
  return { admin, base, tip };
}

/** All that git's own command does, without its process. */
const unlock = (admin: string): void => rmSync(join(admin, "locked"));

/** An empty directory is nobody's. */
export function isTaken(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && !(stat.isDirectory() && readdirSync(path).length === 0);
}

export async function seatOf(project: GitProject, { path, branch, baseRef }: SeatRequest): Promise<Created> {
  const base = await git(project.repository.root, "merge-base", baseRef, `refs/heads/${branch}`);
  if (base.code !== 0) return { problem: `${branch} has nothing in common with ${baseRef}` };
  return { seat: { path, branch, baseCommit: base.out.trim() } };
}

const patienceMs = 10_000;
/** The git of a preparer that was killed lives on for a moment. */
const afterlifeMs = 500;

/**
 * The worktrees there are, once nobody works on an earlier try of ours any more. One that was never finished is taken
 * away: an empty start is better than half a checkout, and no agent ever ran in it.
 */
async function settledEntries(project: GitProject, request: SeatRequest): Promise<readonly Entry[]> {
  const started = performance.now();
  for (;;) {
    const entries = await listEntries(project);
    const lock = entries.find((entry) => isOf(request, entry))?.lock;
    // Somebody else's lock says that they want it kept; git itself locks while it adds.
    if (lock === undefined || !isPreparation(lock)) return entries;
    const admin = adminDirOf(project.repository, request.path);
    const waited = performance.now() - started;
    const writing = admin !== undefined && existsSync(join(admin, "index.lock"));
    const patience = preparerIsGone(lock) && !writing ? afterlifeMs : patienceMs;
    if (waited > patience) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await undo(project, request);
  return listEntries(project);
}

const isOf = (request: SeatRequest, { path, branch }: Entry): boolean =>
  path === request.path && branch === `refs/heads/${request.branch}`;

async function undo({ repository }: GitProject, { path }: SeatRequest): Promise<void> {
  await gitWorktree(repository.root, "remove", "--force", "--force", path);
  rmSync(path, { recursive: true, force: true });
}
