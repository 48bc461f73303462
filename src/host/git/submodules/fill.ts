import { existsSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SeatRequest, UnfilledSubmodule } from "../../../ports/worktrees.ts";
import { rulesFor } from "../filters.ts";
import { expectRoom, passOnFull } from "../full-disk.ts";
import { expectGit } from "../git.ts";
import { openOwnDir } from "../own-dir.ts";
import { placeOf, standing } from "../places.ts";
import type { GitProject } from "../repository.ts";
import { layOutModule, writeLink } from "./lay-out.ts";
import { moduleDirIn, type PlannedModule, planModules, unfilledBy } from "./plan.ts";
import { baseRef, changeModuleRefs, homeOf, isRealDirectory, lastBase } from "./users-module.ts";

/**
 * Gives a new worktree the files of its submodules, each with a git directory of its own, all from what is on this
 * machine. Answers those that stay empty. Safe to repeat: a submodule that was filled once is left as its agent made it.
 */
export async function fillSubmodules(
  project: GitProject,
  { agentName, path, kind, identity = null }: Pick<SeatRequest, "agentName" | "path" | "kind" | "identity">,
  commit: string,
): Promise<readonly UnfilledSubmodule[]> {
  const { repository, scratch } = project;
  const gitDir = hasSubmodules({ path, kind }) ? placeOf(repository, { path, kind })?.gitDir : undefined;
  if (gitDir === undefined) return [];
  const plan = await planModules({ repository, home: homeOf(repository), commit, scratch });
  const unfilled = [...plan.unfilled];
  // In the agent's own directory, existing files are the agent's. Only the git directories were lost.
  const isTakenUp = identity !== null && standing({ path, identity }) === "own";
  for (const module of plan.modules) {
    const workTree = join(path, module.path);
    // The outer one stayed empty, or its agent changed it: what was planned inside is not there.
    if (!isRealDirectory(workTree)) continue;
    try {
      const where = { agentName, gitDir: realpathSync(gitDir), workTree };
      await (isTakenUp && hasFiles(workTree) ? takeUpOne : fillOne)(project, where, module);
    } catch (error) {
      passOnFull(error, workTree);
      unfilled.push(unfilledBy(error, module.path));
    }
  }
  for (const outer of new Set(plan.modules.map(({ names }) => moduleDirIn(gitDir, names.slice(0, -1))))) {
    rmSync(preparingIn(outer), { recursive: true, force: true });
  }
  return unfilled;
}

/** For a project without submodules, to know that costs one look at a file. */
export const hasSubmodules = ({ path, kind }: Pick<SeatRequest, "path" | "kind">): boolean =>
  kind !== "root" && existsSync(join(path, ".gitmodules"));

interface Where {
  readonly agentName: string;
  /** The git directory of the worktree. */
  readonly gitDir: string;
  readonly workTree: string;
}

/**
 * The git directory is made beside its place and moved there last, so one that is in its place is complete. Until then
 * no work was done in the submodule, and the files in it are ours to write again.
 */
export async function fillOne(
  project: GitProject,
  { agentName, gitDir, workTree }: Where,
  planned: Omit<PlannedModule, "path">,
): Promise<void> {
  const { module, commit, names } = planned;
  const finalDir = moduleDirIn(gitDir, names);
  if (existsSync(finalDir)) return;
  const building = join(preparingIn(moduleDirIn(gitDir, names.slice(0, -1))), names.at(-1) ?? "");
  if (!existsSync(building) && readdirSync(workTree).length > 0) throw new Error("its directory is not empty");
  const { scratch } = project;
  const home = realpathSync(workTree);
  try {
    rmSync(building, { recursive: true, force: true });
    mkdirSync(building, { recursive: true });
    await changeModuleRefs(module, { set: [{ name: baseRef(agentName), commit }] });
    await layOutModule({ dir: building, finalDir, workTree: home, commit, module, scratch });
    const { trust } = project.repository;
    await writeFiles({ planned, workTree, index: join(building, "index"), scratch, trust });
    writeLink(home, finalDir);
    mkdirSync(dirname(finalDir), { recursive: true });
    renameSync(building, finalDir);
  } catch (error) {
    for (const name of readdirSync(workTree)) rmSync(join(workTree, name), { recursive: true, force: true });
    rmSync(building, { recursive: true, force: true });
    throw error;
  }
}

const hasFiles = (dir: string): boolean => readdirSync(dir).some((name) => name !== ".git");

/**
 * Makes the git directory of a submodule anew over the files that the agent left; files that differ are uncommitted.
 * HEAD becomes the commit of the last kept uncommitted work, which is the best known guess.
 */
async function takeUpOne(project: GitProject, where: Where, planned: Omit<PlannedModule, "path">): Promise<void> {
  const { module, names } = planned;
  const { agentName, gitDir, workTree } = where;
  const finalDir = moduleDirIn(gitDir, names);
  if (existsSync(finalDir)) return;
  const { scratch, repository } = project;
  const building = join(preparingIn(moduleDirIn(gitDir, names.slice(0, -1))), names.at(-1) ?? "");
  const home = realpathSync(workTree);
  rmSync(building, { recursive: true, force: true });
  mkdirSync(building, { recursive: true });
  const commit = (await lastBase(module, agentName)) ?? planned.commit;
  await changeModuleRefs(module, { set: [{ name: baseRef(agentName), commit }] });
  await layOutModule({ dir: building, finalDir, workTree: home, commit, module, scratch });
  const index = join(building, "index");
  await writeFiles({ planned: { module, commit }, workTree, index, scratch, trust: repository.trust, files: "stay" });
  mkdirSync(dirname(finalDir), { recursive: true });
  renameSync(building, finalDir);
  rmSync(join(home, ".git"), { recursive: true, force: true });
  writeLink(home, finalDir);
}

const preparingIn = (gitDir: string): string => join(gitDir, "modules.preparing");

/** Writes the files of a submodule's commit and the index that lists them. */
export async function writeFiles({
  planned: { module, commit },
  workTree,
  index,
  scratch,
  trust,
  files = "written",
}: {
  readonly planned: Pick<PlannedModule, "module" | "commit">;
  readonly workTree: string;
  readonly index: string;
  readonly scratch: string;
  /** The file that says which programs the operator confirmed. */
  readonly trust: string;
  /** `stay`: writes only the index. */
  readonly files?: "written" | "stay";
}): Promise<void> {
  const repository = { ...module, trust };
  using own = openOwnDir({
    repository,
    scratch,
    head: commit,
    index,
    workTree,
    objects: "project",
    files: await rulesFor(repository, commit),
  });
  const written = await own.git(["read-tree", "--reset", ...(files === "stay" ? [] : ["-u"]), commit]);
  expectRoom(written, workTree);
  expectGit(written, "writing the files of a submodule");
}
