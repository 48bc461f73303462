import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Failure, type FailureData } from "../domain/failure.ts";
import {
  databaseName,
  type ProjectPlace,
  type ProjectRecord,
  recordName,
  sharedDirName,
  stateDirName,
} from "../domain/project/place.ts";
import { ifThere, isTakenPlace, readText, statIfThere } from "./file-access.ts";

export interface PlaceQuestion {
  /** `--project`, when typed. */
  readonly project: string | undefined;
  /** `OVERSTORY_PROJECT_ROOT`, when set. */
  readonly fromEnvironment: string | undefined;
  readonly cwd: string;
}

export interface FoundPlace extends ProjectPlace {
  /**
   * Whether the state directory says that it belongs exactly here. It does not before its first use, when an earlier
   * version made it, and when it was moved or copied; then `project/bind-project` has to look first.
   */
  readonly isBound: boolean;
}

/**
 * The project a command speaks of: as typed, else as the environment says, else around the current directory. Never asks
 * git: a process would cost more than the command. `GIT_DIR` in the environment does not count.
 */
export function findPlace({ project, fromEnvironment, cwd }: PlaceQuestion): FoundPlace {
  if (project !== undefined) return placeAround(existing(resolve(cwd, project)));
  if (fromEnvironment === undefined || fromEnvironment === "") return placeAround(cwd);
  return existsSync(fromEnvironment) ? placeAround(existing(fromEnvironment)) : movedFrom(fromEnvironment, cwd);
}

/** The directory itself; a path that is none is refused by name. */
export function existing(path: string): string {
  const found = statIfThere(path);
  if (found?.isDirectory() === true) return path;
  throw new Failure({ kind: "no-such-directory", path, isFile: found !== undefined });
}

/**
 * The project around a directory: the nearest repository upwards, when it has a state directory or its checkout brings
 * the configuration of a project. The branch that is checked out does not matter, nor in which worktree it is. Another
 * repository inside a project, such as a submodule, is not that project: its files are not what the agents work on.
 */
export function placeAround(start: string): FoundPlace {
  let inner: string | undefined;
  for (let dir = outsideWorktrees(start); ; dir = dirname(dir)) {
    const common = commonDirAt(dir);
    const place = common === undefined ? undefined : placeIn(common, dir);
    if (place !== undefined && inner === undefined) return place;
    if (place !== undefined && inner !== undefined) {
      throw new Failure({ kind: "nested-repository", root: inner, outer: place.root });
    }
    if (common !== undefined) inner ??= dir;
    if (dir === dirname(dir)) throw new Failure(inner === undefined ? withoutProject(start) : notInitialised(start));
  }
}

const notInitialised = (root: string): FailureData => ({ kind: "not-initialised", root });

/** Where a project's files are left without its repository, that is what is missing, and not a set-up. */
function withoutProject(start: string): FailureData {
  for (let dir = outsideWorktrees(start); ; dir = dirname(dir)) {
    if (hasConfig(dir)) return { kind: "not-a-git-repository", path: dir };
    if (dir === dirname(dir)) return notInitialised(start);
  }
}

/** As `placeAround`; undefined when there is no project, or only one outside of the repository. */
export function placeIfAny(start: string): FoundPlace | undefined {
  try {
    return placeAround(start);
  } catch (error) {
    if (error instanceof Failure && noProject.includes(error.data.kind)) return undefined;
    throw error;
  }
}

const noProject: readonly FailureData["kind"][] = ["not-initialised", "nested-repository", "not-a-git-repository"];

/** The path of the state directory for the repository that is checked out at `root`. It need not exist. */
export function stateDir(root: string): string {
  const common = commonDirAt(root);
  if (common === undefined) throw new Failure({ kind: "not-a-git-repository", path: root });
  return join(common, stateDirName);
}

/** What people share in a checkout. */
export const sharedDir = (root: string): string => join(root, sharedDirName);

/** Where gates run: checkouts of their own. */
export const gatePlaces = (root: string): string => join(sharedDir(root), "merge-worktrees");

export const databaseIn = (state: string): string => join(state, databaseName);

/** An empty file holds no data: it can be made anew, and cannot be read. */
export const hasDatabase = (state: string): boolean => (statIfThere(databaseIn(state))?.size ?? 0) > 0;

/** Backups hold their copy of the database packed; earlier ones are plain. */
export const packedIn = (backup: string): string => `${databaseIn(backup)}.gz`;

/** Does this backup hold a copy of the database? */
export const hasCopy = (backup: string): boolean => hasDatabase(backup) || existsSync(packedIn(backup));

/** The newest backup with a copy of the database. Those that `ov doctor` made have a word before their time. */
export function newestBackup(state: string): string | null {
  const all = join(state, "backups");
  const names = existsSync(all) ? readdirSync(all).filter((name) => hasCopy(join(all, name))) : [];
  const timeOf = (name: string): string => name.replace(/^[a-z]+-/, "");
  return names.toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1)).at(-1) ?? null;
}

/** An earlier version kept the state in the checkout. It is used there until it could be moved. */
export const isOldState = (state: string): boolean => basename(state) === sharedDirName;

/** The record in a state directory; undefined when it is missing or unreadable. */
export function readRecord(state: string): ProjectRecord | undefined {
  try {
    const record: ProjectRecord = JSON.parse(readText(join(state, recordName)) ?? "null");
    const texts = record === null ? [] : [record.id, record.root, record.state, record.device, record.inode];
    return texts.length > 0 && texts.every((text) => typeof text === "string") ? record : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The device and inode of a directory, which no other directory has; undefined when it does not exist. */
export function identityOf(dir: string): { readonly device: string; readonly inode: string } | undefined {
  const stat = ifThere(() => statSync(dir, { throwIfNoEntry: false, bigint: true }));
  return stat === undefined ? undefined : { device: String(stat.dev), inode: String(stat.ino) };
}

/**
 * Has the repository no such branch, for certain? A branch is a file of its own or a line of `packed-refs`. Other forms of
 * storage have neither, and a directory without HEAD is no git directory: there it is not known. Starts no git.
 */
export function lacksBranch(common: string, branch: string): boolean {
  const ref = `refs/heads/${branch}`;
  if (existsSync(join(common, ref)) || existsSync(join(common, "reftable"))) return false;
  if (!existsSync(join(common, "HEAD"))) return false;
  const packed = readText(join(common, "packed-refs")) ?? "";
  return !packed.split("\n").some((line) => line.endsWith(` ${ref}`));
}

/**
 * The git directory that all worktrees of a repository share, seen from one checkout: `.git` itself, or what a `.git`
 * file leads to. A bare repository is its own. Undefined where there is none, or where the link leads nowhere.
 */
export function commonDirAt(dir: string): string | undefined {
  const link = join(dir, ".git");
  const stat = statIfThere(link);
  const gitDir = stat === undefined ? bareAt(dir) : stat.isDirectory() ? link : linkedFrom(dir, link);
  if (gitDir === undefined) return undefined;
  const common = readText(join(gitDir, "commondir"));
  return ifThere(() => realpathSync(common === undefined ? gitDir : resolve(gitDir, common.trimEnd())));
}

const bareAt = (dir: string): string | undefined =>
  existsSync(join(dir, stateDirName)) && existsSync(join(dir, "HEAD")) ? dir : undefined;

function linkedFrom(dir: string, link: string): string | undefined {
  const to = /^gitdir: (.*)\s*$/.exec(readText(link) ?? "")?.[1];
  return to === undefined ? undefined : resolve(dir, to);
}

/** A process that was started before the project was moved still names the old root. Its directory moved along. */
function movedFrom(root: string, cwd: string): FoundPlace {
  const place = placeIfAny(cwd);
  const record = place === undefined ? undefined : readRecord(place.state);
  const roots = record === undefined ? [] : [record.root, ...record.formerRoots];
  if (place !== undefined && roots.includes(root)) return place;
  throw new Failure({ kind: "no-such-directory", path: root, isFile: false });
}

/**
 * Agents' worktrees lie below `.overstory/worktrees` of the root. One with a git directory of its own holds a tracked
 * copy of the configuration, which must not be taken for a project.
 */
function outsideWorktrees(dir: string): string {
  const inside = dir.indexOf(`${join("/", sharedDirName, "worktrees")}/`);
  return inside === -1 ? dir : dir.slice(0, inside);
}

function placeIn(common: string, checkout: string): FoundPlace | undefined {
  const state = join(common, stateDirName);
  const record = readRecord(state);
  if (record !== undefined) {
    const root = commonDirAt(record.root) === common ? record.root : rootOf(common, checkout);
    return { root, state, isBound: root === record.root && isRecorded(state, record) };
  }
  if (isTakenPlace(state)) throw new Failure({ kind: "not-a-directory", path: state });
  const root = rootOf(common, checkout);
  if (existsSync(databaseIn(sharedDir(root)))) return { root, state: sharedDir(root), isBound: false };
  return existsSync(databaseIn(state)) || hasConfig(root) ? { root, state, isBound: false } : undefined;
}

function isRecorded(state: string, record: ProjectRecord): boolean {
  const here = identityOf(state);
  return record.state === state && here?.device === record.device && here.inode === record.inode;
}

/** The main checkout, unless only the caller's has the configuration, or the repository has no main checkout. */
function rootOf(common: string, checkout: string): string {
  const main = basename(common) === ".git" ? dirname(common) : undefined;
  if (main === undefined) return checkout;
  return hasConfig(main) || !hasConfig(checkout) ? main : checkout;
}

const hasConfig = (checkout: string): boolean => existsSync(join(sharedDir(checkout), "config.yaml"));
