import { lstatSync, type Stats } from "node:fs";
import { join } from "node:path";
import { stateDirName } from "../../domain/project/place.ts";
import { expectGit, git } from "./git.ts";
import type { Place } from "./places.ts";
import type { Repository } from "./repository.ts";

export interface WorktreeOptions {
  /** Untracked files above this size are left out of snapshots. */
  readonly maxFileBytes?: number;
  /** `worktree.include`: files of the project copied into each new worktree. They are never stored. */
  readonly include?: readonly string[];
  /** Paths of files that we put into worktrees ourselves: not an agent's work, so neither dirt nor worth keeping. */
  readonly deployed?: readonly string[];
  /** The state directory; the one in the repository unless said otherwise. */
  readonly state?: string;
  /** Where ignored files of removed worktrees go. */
  readonly trash?: string;
  /** Where directories of one operation are made; nobody else may write there. */
  readonly scratch?: string;
}

/** One repository with everything the operations on its worktrees need to know. */
export interface Yard {
  readonly repository: Repository;
  readonly maxFileBytes: number;
  readonly include: readonly string[];
  readonly deployed: readonly string[];
  readonly trash: string;
  readonly scratch: string;
  /** Where the state of the one worktree is that this is about, when it is not where worktrees have it: a submodule. */
  readonly place?: Place;
}

const tenMegabytes = 10 * 1024 * 1024;

export function makeYard(repository: Repository, options: WorktreeOptions): Yard {
  const state = options.state ?? join(repository.commonDir, stateDirName);
  return {
    repository,
    maxFileBytes: options.maxFileBytes ?? tenMegabytes,
    include: options.include ?? [],
    deployed: options.deployed ?? [],
    trash: options.trash ?? join(state, "trash"),
    scratch: options.scratch ?? join(state, "run", "git"),
  };
}

/** The commit a ref of the project points to. */
export async function commitAt({ repository }: Pick<Yard, "repository">, ref: string): Promise<string | undefined> {
  const answer = await git(repository.root, "rev-parse", "--verify", "--quiet", `${ref}^{commit}`);
  return answer.code === 0 ? answer.out.trim() : undefined;
}

export async function setRef({ repository }: Pick<Yard, "repository">, ref: string, commit: string): Promise<void> {
  expectGit(await git(repository.root, "update-ref", ref, commit), `setting ${ref}`);
}

/**
 * False when the ref exists already. Throws, with git's words, when it does not exist and still cannot be made: a lock
 * that stays, a directory or a file in the way, no right to write.
 */
export async function newRef(yard: Pick<Yard, "repository">, ref: string, commit: string): Promise<boolean> {
  const nothing = "0".repeat(commit.length);
  return changeRef(yard, ref, [commit, nothing], async () => (await commitAt(yard, ref)) !== undefined);
}

/**
 * Makes the first of these refs that is free. A few others may have been made since the caller looked, and the lock of
 * one may have been left by a dead process; when the fourth cannot be made either, the reason is another one.
 */
export async function firstFreeRef(
  yard: Pick<Yard, "repository">,
  commit: string,
  nameOf: (at: number) => string,
): Promise<string> {
  let failures = 0;
  for (let at = 0; ; at++) {
    try {
      if (await newRef(yard, nameOf(at), commit)) return nameOf(at);
    } catch (error) {
      if (++failures === mostFailures) throw error;
    }
    if (at > mostOthers) throw new Error(`${nameOf(0)} and ${at} more refs exist already`);
  }
}

const mostFailures = 4;
const mostOthers = 1_000;

/**
 * Deletes a ref whose tip is still the one that was looked at. False when it moved meanwhile. Throws when it is still
 * there and cannot be deleted.
 */
export async function dropRef(yard: Pick<Yard, "repository">, ref: string, tip: string): Promise<boolean> {
  const moved = async (): Promise<boolean> => (await commitAt(yard, ref)) !== tip;
  return changeRef(yard, ref, ["-d", tip], moved);
}

/** Another writer may hold the lock of a ref for a moment: then git is asked again, a few times. */
async function changeRef(
  { repository }: Pick<Yard, "repository">,
  ref: string,
  change: readonly string[],
  isOvertaken: () => Promise<boolean>,
): Promise<boolean> {
  const args = change[0] === "-d" ? ["-d", ref, ...change.slice(1)] : [ref, ...change];
  for (let tries = 1; ; tries++) {
    const answer = await git(repository.root, "update-ref", ...args);
    if (answer.code === 0) return true;
    if (await isOvertaken()) return false;
    if (tries === mostRefTries) expectGit(answer, `changing ${ref}`);
    await Bun.sleep(betweenRefTriesMs * tries);
  }
}

const mostRefTries = 4;
const betweenRefTriesMs = 25;

export interface Ref {
  readonly name: string;
  readonly commit: string;
}

/** Refs of the project below a prefix that ends with a slash. */
export async function refsBelow({ repository }: Pick<Yard, "repository">, prefix: string): Promise<readonly Ref[]> {
  const answer = await git(repository.root, "for-each-ref", "--format=%(objectname) %(refname)", prefix);
  return parseRefs(expectGit(answer, `listing ${prefix}`).out);
}

export function parseRefs(text: string): readonly Ref[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const space = line.indexOf(" ");
      return { commit: line.slice(0, space), name: line.slice(space + 1) };
    });
}

export const snapshotRefs = (agentName: string): string => `refs/overstory/snap/${agentName}/`;
export const pinRefs = (agentName: string): string => `refs/overstory/pin/${agentName}/`;

/** What lies at a path; undefined when nothing does, also because a directory above it has become a file. */
export function statOf(path: Buffer): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** A path below a directory; file names are bytes and need not be text. */
export const absolute = (root: string, path: Buffer): Buffer => Buffer.concat([Buffer.from(`${root}/`), path]);
