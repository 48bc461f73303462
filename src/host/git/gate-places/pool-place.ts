import {
  copyFileSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { MergeRepository } from "../merge/merge-repository.ts";
import { adminDirOf } from "../places.ts";
import { removeAll } from "../work/trash.ts";
import { gitWorktree } from "../worktree/list.ts";

/** A linked worktree of the pool, as git knows it. */
export interface PoolPlace {
  readonly path: string;
  /** Where git keeps its state. */
  readonly gitDir: string;
}

/**
 * The place at `path` if it is what we made, whatever was done to it since: a real directory that belongs to the
 * repository. Commands that ran in it could have pointed it at another one.
 */
export function placeAt({ repository }: MergeRepository, path: string): PoolPlace | undefined {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const gitDir = adminDirOf(repository, path);
  if (gitDir === undefined || lstatSync(gitDir).isDirectory() !== true) return undefined;
  const link = lstatSync(join(path, ".git"), { throwIfNoEntry: false });
  if (link?.isFile() !== true || link.nlink !== 1 || link.size > longestLink) return undefined;
  const points = /^gitdir: (.+)\n$/.exec(readFileSync(join(path, ".git"), "utf8"))?.[1];
  // Newer git may write it as a relative path.
  return points !== undefined && resolve(path, points) === gitDir ? { path, gitDir } : undefined;
}

const longestLink = 8192;

/** Makes the place from nothing, taking away whatever is there. Git adds it without files. */
export async function makePlace(mergeRepo: MergeRepository, path: string, commit: string): Promise<PoolPlace> {
  const { repository } = mergeRepo;
  return await inTurn(async () => {
    for (let tries = 1; ; tries++) {
      discard(mergeRepo, path);
      const options = ["--force", "--force", "--no-checkout", "--detach", "--quiet", "--lock", "--reason", lockReason];
      const added = await gitWorktree(repository.root, "add", ...options, path, commit);
      const place = added.code === 0 ? placeAt(mergeRepo, path) : undefined;
      if (place !== undefined) return place;
      // Worktrees that are being added elsewhere are half there for a moment, and git stumbles over them.
      if (tries === mostTries) throw new Error(`making ${path}: ${added.err.trim()}`);
      await Bun.sleep(betweenTriesMs * tries);
    }
  });
}

const lockReason = "overstory checks merges here";
const mostTries = 6;
const betweenTriesMs = 100;

/** Worktrees are added one at a time: git itself races. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = queue.then(work);
  // The queue only orders; the caller handles its own failure.
  queue = turn.catch(() => undefined);
  return turn;
}

let queue: Promise<unknown> = Promise.resolve();

function discard({ repository }: MergeRepository, path: string): void {
  const gitDir = adminDirOf(repository, path);
  removeAll(path);
  if (gitDir !== undefined) removeAll(gitDir);
}

/**
 * Sets what git knows about the place: it is detached at the commit, has this index, and nothing else. What commands
 * left in the git directory, as configuration of this worktree or a merge left half-way, is gone.
 */
export function settlePlace({ gitDir }: PoolPlace, commit: string, index: string): void {
  for (const name of readdirSync(gitDir)) if (!kept.includes(name)) removeAll(join(gitDir, name));
  write(join(gitDir, "HEAD"), `${commit}\n`);
  write(join(gitDir, "commondir"), "../..\n");
  write(join(gitDir, "locked"), lockReason);
  copyIndex(index, join(gitDir, "index"));
}

/** The copy is not younger than the files it lists, or git would not see a change in the same moment. */
export function copyIndex(from: string, to: string): void {
  copyFileSync(from, to);
  const { atimeMs, mtimeMs } = statSync(from);
  utimesSync(to, atimeMs / 1000, (mtimeMs - doubtMs) / 1000);
}

const kept = ["gitdir", "HEAD", "commondir", "locked"];
const doubtMs = 2;

/**
 * In one step, for git gives up over a place that is half there, whatever it was asked. A link is replaced, never
 * followed.
 */
function write(path: string, text: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) removeAll(path);
  const aside = `${path}.new`;
  removeAll(aside);
  writeFileSync(aside, text, { flag: "wx" });
  renameSync(aside, path);
}
