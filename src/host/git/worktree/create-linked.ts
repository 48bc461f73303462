import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import type { ProcessIdentity } from "../../../domain/process/process.ts";
import { shellWord } from "../../../domain/text/shell-word.ts";
import type { Seat, SeatRequest } from "../../../ports/worktrees.ts";
import { lstatIfThere } from "../../file-access.ts";
import { linuxProcesses } from "../../processes.ts";
import { fileRules } from "../filters.ts";
import { expectRoom, passOnFull } from "../full-disk.ts";
import { expectGit, git } from "../git.ts";
import { scratchName } from "../leftovers.ts";
import { openOwnDir } from "../own-dir.ts";
import { adminDirOf, standing } from "../places.ts";
import { commitAt, dropRef, newRef } from "../refs.ts";
import type { GitProject } from "../repository.ts";
import { lastTip } from "../work/kept-work.ts";
import { type Linked, linkNew, moveBack, putAmong } from "./git-link.ts";
import { type Entry, gitWorktree, listEntries } from "./list.ts";
import { isWorktreeOf } from "./open-worktree.ts";
import { populate } from "./populate.ts";

/** A seat, or in words why there is none. A full disk is no such reason: it is thrown. */
export type Created = { readonly seat: Omit<Seat, "identity"> } | { readonly problem: string };

/**
 * Adds a linked worktree. Git adds it without files and locked; the files are written by a git that knows no filter;
 * only then the lock is opened. So a worktree without our lock is complete, even if a process died in between.
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
    // The earlier error says more, and a branch without a worktree does no harm.
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
    const isLocked = elsewhere.lock !== undefined;
    const back = `; if it was moved, move it back with: ${moveBack(elsewhere.path, request.path, { isLocked })}, then: ov recover ${request.agentName}`;
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
  if (added.code !== 0) return { problem: (await shorterBranch(project, request.branch)) ?? added.err.trim() };
  const admin = adminDirOf(project.repository, request.path);
  if (admin === undefined) return { problem: "git added the worktree but does not list it" };
  return { admin, base, tip };
}

/** Git cannot make `overstory/b1/T1` beside a branch `overstory/b1`, and says so in its own words. */
async function shorterBranch(project: GitProject, branch: string): Promise<string | undefined> {
  const parts = branch.split("/");
  for (let length = 1; length < parts.length; length++) {
    const shorter = parts.slice(0, length).join("/");
    if ((await commitAt(project, `refs/heads/${shorter}`)) === undefined) continue;
    return `the branch ${shorter} leaves no room for ${branch}; give it another name: git branch -m ${shorter} <new name>`;
  }
  return undefined;
}

/** All that git's own command does, without its process. */
const unlock = (admin: string): void => rmSync(join(admin, "locked"));

/** An empty directory is free. */
export function isTaken(path: string): boolean {
  const stat = lstatIfThere(path);
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
 * The worktrees, once no process works on an earlier try of ours any more. A worktree that was never finished is removed:
 * an empty start is better than half a checkout, and no agent ever ran in it.
 */
async function settledEntries(project: GitProject, request: SeatRequest): Promise<readonly Entry[]> {
  const started = performance.now();
  for (;;) {
    const entries = await listEntries(project);
    const lock = entries.find((entry) => isOf(request, entry))?.lock;
    // A lock of a person says that they want the worktree kept; git itself locks while it adds.
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

/** The lock of a worktree while this process prepares it. The process number alone may be reused later. */
export function ownLock(): string {
  const { pid, startToken, bootId } = linuxProcesses.self();
  return `overstory is preparing it (process ${pid} ${startToken} ${bootId})`;
}

/** Is this lock ours, or git's own while `worktree add` runs? */
const isPreparation = (lock: string): boolean => lock === "initializing" || preparer(lock) !== undefined;

/** The process that took this lock has ended. */
function preparerIsGone(lock: string): boolean {
  const found = preparer(lock);
  if (found === undefined) return false;
  return typeof found === "number" ? !isRunning(found) : linuxProcesses.check(found) === "gone";
}

/** Earlier versions wrote the number only. */
function preparer(lock: string): ProcessIdentity | number | undefined {
  const [, pid, startToken, bootId] = shape.exec(lock) ?? [];
  if (pid === undefined) return undefined;
  if (startToken === undefined || bootId === undefined) return Number(pid);
  return { pid: Number(pid), startToken, bootId };
}

const shape = /^overstory is preparing it \(process (\d+)(?: (\d+) ([0-9a-f-]+))?\)$/;

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    // Gone, or another user's; neither prepares worktrees here.
    return false;
  }
}

/**
 * The agent's own directory stands there, but git has no record of it, as after a prune while the disk was not mounted.
 */
function hasLostRecord({ repository }: GitProject, request: SeatRequest): boolean {
  const { path, identity = null } = request;
  if (identity === null || standing({ path, identity }) !== "own") return false;
  const isRepository = lstatSync(join(path, ".git"), { throwIfNoEntry: false })?.isDirectory() === true;
  return !isRepository && adminDirOf(repository, path) === undefined;
}

/**
 * Makes git's record of the worktree anew, on the agent's branch, over the files as they are: uncommitted changes are
 * uncommitted again. The staged state and the state of a rebase went with the old record; a snapshot has them. A
 * missing branch is put back where the last snapshot was. Returns the reason in words if that fails. The record is
 * complete when git first sees it; the link in the worktree comes after it and is mended before every turn.
 */
async function relink(project: GitProject, request: SeatRequest): Promise<string | undefined> {
  const { path, branch } = request;
  const { repository, scratch } = project;
  const ref = `refs/heads/${branch}`;
  const known = await commitAt(project, ref);
  const tip = known ?? (await lastTip(project, request));
  if (tip === undefined) return `git has lost its record of ${path}, and there is no branch ${branch}`;
  if (known === undefined) await newRef(project, ref, tip);
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const made = mkdtempSync(join(scratch, scratchName("link")));
  try {
    await writeIndex(project, { index: join(made, "index"), path, tip });
    writeFileSync(join(made, "gitdir"), `${join(realpathSync(path), ".git")}\n`);
    writeFileSync(join(made, "commondir"), "../..\n");
    writeFileSync(join(made, "HEAD"), `ref: ${ref}\n`);
    const admin = putAmong(join(repository.commonDir, "worktrees"), basename(path), made);
    rmSync(join(path, ".git"), { force: true });
    writeFileSync(join(path, ".git"), `gitdir: ${admin}\n`);
    return undefined;
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

async function writeIndex(
  { repository, scratch }: GitProject,
  { index, path, tip }: { readonly index: string; readonly path: string; readonly tip: string },
): Promise<void> {
  using own = openOwnDir({
    repository,
    scratch,
    head: tip,
    index,
    workTree: path,
    objects: "project",
    files: await fileRules(repository),
  });
  expectGit(await own.git(["read-tree", tip]), "reading the branch");
  // The command fails where files differ, which does not matter here.
  await own.git(["update-index", "-q", "--refresh"]);
}
