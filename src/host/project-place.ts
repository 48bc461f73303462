import { existsSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { Failure } from "../domain/failure.ts";
import { databaseName, type ProjectPlace, sharedDirName, stateDirName } from "../domain/project/place.ts";
import { readText } from "./read-text.ts";
import { errorCode } from "./writable.ts";

export interface PlaceQuestion {
  /** `--project`, when typed. */
  readonly project: string | undefined;
  /** `OVERSTORY_PROJECT_ROOT`, when set. */
  readonly fromEnvironment: string | undefined;
  readonly cwd: string;
}

/**
 * The project a command speaks of: as typed, else as the environment says, else around the current directory. Never asks
 * git: a process would cost more than the command. `GIT_DIR` in the environment does not count.
 */
export function findPlace({ project, fromEnvironment, cwd }: PlaceQuestion): ProjectPlace {
  if (project !== undefined) return placeAround(existing(resolve(cwd, project)));
  if (fromEnvironment !== undefined && fromEnvironment !== "") return placeAround(existing(fromEnvironment));
  return placeAround(cwd);
}

/** The directory itself; a path that is none is refused by name. */
export function existing(path: string): string {
  const found = statIfThere(path);
  if (found?.isDirectory() === true) return path;
  throw new Failure({ kind: "no-such-directory", path, isFile: found !== undefined });
}

/**
 * The project around a directory: the nearest repository upwards that has a state directory, or whose checkout brings
 * the configuration of a project. The branch that is checked out does not matter, nor in which worktree it is.
 */
export function placeAround(start: string): ProjectPlace {
  for (let dir = outsideWorktrees(start); ; dir = dirname(dir)) {
    const common = commonDirAt(dir);
    const place = common === undefined ? undefined : placeIn(common, dir);
    if (place !== undefined) return place;
    if (dir === dirname(dir)) throw new Failure({ kind: "not-initialised", root: start });
  }
}

/** The state directory of the repository that is checked out at `root`, whether it is there yet or not. */
export function stateDir(root: string): string {
  const common = commonDirAt(root);
  if (common === undefined) throw new Failure({ kind: "not-a-git-repository", path: root });
  return join(common, stateDirName);
}

/** What people share in a checkout. */
export const sharedDir = (root: string): string => join(root, sharedDirName);

export const databaseIn = (state: string): string => join(state, databaseName);

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
  try {
    return realpathSync(common === undefined ? gitDir : resolve(gitDir, common.trimEnd()));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function statIfThere(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "")) return undefined;
    throw error;
  }
}

const bareAt = (dir: string): string | undefined =>
  existsSync(join(dir, stateDirName)) && existsSync(join(dir, "HEAD")) ? dir : undefined;

function linkedFrom(dir: string, link: string): string | undefined {
  const to = /^gitdir: (.*)\s*$/.exec(readFileSync(link, "utf8"))?.[1];
  return to === undefined ? undefined : resolve(dir, to);
}

/**
 * Agents' worktrees lie below `.overstory/worktrees` of the root. One with a git directory of its own holds a tracked
 * copy of the configuration, which must not be taken for a project.
 */
function outsideWorktrees(dir: string): string {
  const inside = dir.indexOf(`${join("/", sharedDirName, "worktrees")}/`);
  return inside === -1 ? dir : dir.slice(0, inside);
}

function placeIn(common: string, checkout: string): ProjectPlace | undefined {
  const state = join(common, stateDirName);
  const root = rootOf(common, checkout);
  const isProject = existsSync(databaseIn(state)) || existsSync(join(sharedDir(root), "config.yaml"));
  return isProject ? { root, state } : undefined;
}

/** The main checkout, unless only the caller's has the configuration, or the repository has no main checkout. */
function rootOf(common: string, checkout: string): string {
  const main = basename(common) === ".git" ? dirname(common) : undefined;
  if (main === undefined) return checkout;
  return hasConfig(main) || !hasConfig(checkout) ? main : checkout;
}

const hasConfig = (checkout: string): boolean => existsSync(join(sharedDir(checkout), "config.yaml"));
