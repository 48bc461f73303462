import { lstatSync, realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import type { OwnedWorktree } from "../../../ports/worktrees.ts";
import { runGit } from "../git.ts";
import { adminDirOf, gitLinkIn, ownPlace, placeOf, standing } from "../places.ts";
import type { GitProject, Place, Repository } from "../repository.ts";
import { dirtyPaths } from "../work/uncommitted.ts";
import { type OpenWorktree, openWorktree } from "../worktree/open-worktree.ts";
import {
  findModule,
  homeInside,
  homeOf,
  isRealDirectory,
  type ModuleHome,
  moduleNames,
  openModule,
} from "./users-module.ts";

/** A submodule in an agent's worktree. */
export interface AgentModule {
  readonly name: string;
  /** Its own git directory. The agent may have changed everything in it, so its configuration is never used. */
  readonly place: Place;
  /** From the top of the worktree; undefined while it is not checked out. */
  readonly path: string | undefined;
  /** The user's module; undefined when the agent brought the submodule in. */
  readonly module: Repository | undefined;
}

/**
 * The git directory of a worktree, if modules are in it. That of a linked one outlives its files. For a worktree without
 * modules this is one look at a directory.
 */
export function gitDirWithModules(
  { repository }: Pick<GitProject, "repository">,
  worktree: OwnedWorktree,
): string | undefined {
  if (worktree.kind === "root") return undefined;
  const gitDir =
    worktree.kind === "linked" ? adminDirOf(repository, worktree.path) : placeOf(repository, worktree)?.gitDir;
  return gitDir !== undefined && isRealDirectory(join(gitDir, "modules")) ? gitDir : undefined;
}

/** The modules of one git directory, without those inside them. `prefix` is the path of the one they are in. */
export async function modulesIn(
  gitDir: string,
  { home, worktree, prefix }: { readonly home: ModuleHome; readonly worktree: OwnedWorktree; readonly prefix: string },
): Promise<readonly AgentModule[]> {
  const hasFiles = standing(worktree) === "own";
  const found: AgentModule[] = [];
  for (const name of moduleNames(join(gitDir, "modules"))) {
    const place = ownPlace(join(gitDir, "modules", name));
    if (place === undefined) continue;
    const path = hasFiles ? await checkedOutAt(place.gitDir, worktree.path) : undefined;
    const inner = path === undefined || !path.startsWith(prefix) ? name : path.slice(prefix.length);
    const dir = findModule(home, { name, path: inner });
    found.push({ name, place, path, module: dir === undefined ? undefined : await openModule(dir) });
  }
  return found;
}

/** Names of modules that git could not open either. */
export const brokenModules = (gitDir: string): readonly string[] =>
  moduleNames(join(gitDir, "modules")).filter((name) => ownPlace(join(gitDir, "modules", name)) === undefined);

/** The directory of the worktree that belongs to this git directory, when both say so. */
async function checkedOutAt(gitDir: string, top: string): Promise<string | undefined> {
  const file = join(gitDir, "config");
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat?.isFile() !== true || stat.size > largestConfig) return undefined;
  // As data: nothing that it includes is read, and no repository is opened.
  const answer = await runGit({ cwd: "/", args: ["config", "--file", file, "--get", "core.worktree"] });
  const dir = resolve(gitDir, answer.out.trim());
  if (answer.code !== 0 || !isRealDirectory(dir)) return undefined;
  const [real, realTop] = [realpathSync(dir), realpathSync(top)];
  const target = gitLinkIn(join(dir, ".git"));
  const isOurs = target !== undefined && resolve(real, target) === realpathSync(gitDir);
  return isOurs && real.startsWith(`${realTop}/`) ? relative(realTop, real) : undefined;
}

const largestConfig = 1024 * 1024;

/** Opens the files of a submodule, like those of a clone of the user's module. */
export function openAgentModule(
  project: GitProject,
  worktree: OwnedWorktree,
  found: CheckedOut,
): Promise<OpenWorktree> {
  return openWorktree(moduleAsProject(project, found), ownedModule(worktree, found));
}

/** A submodule that is checked out, and has a module of the user's to go with it. */
export type CheckedOut = AgentModule & { readonly path: string; readonly module: Repository };

/** Nothing is copied into submodules or put there by us. */
export const moduleAsProject = (project: GitProject, { module, place }: CheckedOut): GitProject => ({
  ...project,
  // What the operator confirmed counts for the whole project.
  repository: { ...module, trust: project.repository.trust },
  include: [],
  deployed: [],
  place,
});

export const ownedModule = (worktree: OwnedWorktree, { path }: CheckedOut): OwnedWorktree => ({
  ...worktree,
  path: join(worktree.path, path),
  branch: "",
  kind: "clone",
  identity: null,
  baseCommit: null,
  baseRef: null,
});

/** The agent's module by itself: an agent cannot have changed how its objects are named. */
export const alone = ({ place }: AgentModule, objectFormat: string): Repository => ({
  root: place.gitDir,
  gitDir: place.gitDir,
  commonDir: place.gitDir,
  objects: place.objects,
  objectFormat,
  plainSettings: [],
  isOrdinary: true,
  trust: join(place.gitDir, "nothing-is-confirmed-here"),
});

/** Paths of one submodule, from its own top, that are changed and not committed there. */
export async function changedIn(
  project: GitProject,
  worktree: OwnedWorktree,
  found: CheckedOut,
): Promise<readonly string[]> {
  using open = await openAgentModule(project, worktree, found);
  return await dirtyPaths(open, join(worktree.path, found.path));
}

/** The same of all submodules of a worktree, nested ones too, from the top of the worktree. */
export async function changedInSubmodules(project: GitProject, worktree: OwnedWorktree): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const found of await checkedOutModules(project, worktree)) {
    try {
      changed.push(...(await changedIn(project, worktree, found)).map((path) => `${found.path}/${path}`));
    } catch {
      // The agent broke the module, so its content is not known. Collecting reports what is wrong with it.
      changed.push(found.path);
    }
  }
  return changed;
}

/** All submodules of a worktree that are checked out, outer ones first. */
export async function checkedOutModules(project: GitProject, worktree: OwnedWorktree): Promise<readonly CheckedOut[]> {
  const gitDirOfAll = gitDirWithModules(project, worktree);
  if (gitDirOfAll === undefined) return [];
  const { objectFormat } = project.repository;
  const all: CheckedOut[] = [];
  const visit = async (gitDir: string, home: ModuleHome, prefix: string): Promise<void> => {
    for (const found of await modulesIn(gitDir, { home, prefix, worktree })) {
      const { path } = found;
      if (path === undefined) continue;
      const module = found.module ?? alone(found, objectFormat);
      all.push({ ...found, path, module });
      const inside = found.module === undefined ? nowhere : homeInside(home, module, path.slice(prefix.length));
      await visit(found.place.gitDir, inside, `${path}/`);
    }
  };
  await visit(gitDirOfAll, homeOf(project.repository), "");
  return all;
}

/** A submodule that only the agent has has no modules of the user's inside. */
const nowhere: ModuleHome = { gitDirs: [], workTree: "/dev/null" };
