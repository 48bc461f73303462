import { mkdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { OwnedWorktree } from "../../../ports/worktrees.ts";
import { writeAtomically } from "../../file-access.ts";
import { expectGit } from "../git.ts";
import { differences, type OwnDir, openOwnDir } from "../own-dir.ts";
import { placeOf } from "../places.ts";
import type { GitProject, Repository } from "../repository.ts";
import { fillOne, writeFiles } from "./fill.ts";
import { hasCommit, moduleDirIn } from "./plan.ts";
import {
  baseRef,
  changeModuleRefs,
  findModule,
  homeInside,
  homeOf,
  isRealDirectory,
  lastBase,
  lastWorkRef,
  type ModuleHome,
  mayHave,
  moduleNames,
  moduleRefs,
  openModule,
  openRefs,
  submodulesOf,
} from "./users-module.ts";

/** Does any module of the user, nested ones included, hold uncommitted work of this agent? Starts no process. */
export function hasSubmoduleWork({ gitDirs }: Pick<ModuleHome, "gitDirs">, agentName: string): boolean {
  return gitDirs.some((gitDir) =>
    moduleNames(join(gitDir, "modules")).some((name) => {
      const dir = join(gitDir, "modules", name);
      return mayHave(dir, lastWorkRef(agentName)) || hasSubmoduleWork({ gitDirs: [dir] }, agentName);
    }),
  );
}

/**
 * Puts the submodules of a new worktree back to their state in the agent's last worktree: each at its commit, with its
 * uncommitted files. `state` is the commit or snapshot that names those commits. No agent has worked in the new
 * worktree yet, so all files in it may be overwritten, and the restore can be repeated. Returns the restored files,
 * from the top of the worktree.
 */
export async function restoreSubmodules(
  project: GitProject,
  worktree: OwnedWorktree,
  state: string,
): Promise<readonly string[]> {
  const gitDir = placeOf(project.repository, worktree)?.gitDir;
  if (gitDir === undefined) return [];
  const restored: string[] = [];
  const visit = async (level: Level): Promise<void> => {
    for (const found of await modulesAt(project, level)) {
      const { path, commit, names, module, home } = found;
      const workTree = join(worktree.path, path);
      mkdirSync(workTree, { recursive: true });
      await putAt(project, worktree, { ...found, gitDir: realpathSync(gitDir), workTree });
      const work = await lastWork(module, worktree.agentName, commit);
      if (work !== undefined) {
        restored.push(
          ...(await writeWork(project, module, { workTree, from: commit, to: work })).map((one) => `${path}/${one}`),
        );
      }
      await visit({ repository: module, home, state: work ?? commit, names, prefix: `${path}/` });
    }
  };
  await visit({ repository: project.repository, home: homeOf(project.repository), state, names: [], prefix: "" });
  return restored;
}

/**
 * Uncommitted files of an agent that its submodules keep beside the snapshot or commit `state`, from the top of the
 * worktree. Empty where the modules keep work that was done on top of another commit.
 */
export async function submoduleWork(project: GitProject, agentName: string, state: string): Promise<readonly string[]> {
  if (!hasSubmoduleWork(homeOf(project.repository), agentName)) return [];
  const found: string[] = [];
  const visit = async (level: Level): Promise<void> => {
    for (const { path, commit, names, module, home } of await modulesAt(project, level)) {
      const work = await lastWork(module, agentName, commit);
      if (work !== undefined) {
        using own = openRefs(module, project.scratch);
        found.push(...(await differences(own, commit, work)).map((one) => `${path}/${one.path.toString()}`));
      }
      await visit({ repository: module, home, state: work ?? commit, names, prefix: `${path}/` });
    }
  };
  await visit({ repository: project.repository, home: homeOf(project.repository), state, names: [], prefix: "" });
  return found;
}

/** A repository that has submodules. */
interface Level {
  readonly repository: Repository;
  readonly home: ModuleHome;
  readonly state: string;
  readonly names: readonly string[];
  readonly prefix: string;
}

interface Found {
  readonly path: string;
  readonly names: readonly string[];
  readonly module: Repository;
  readonly home: ModuleHome;
  readonly commit: string;
}

/** The modules whose commit is on this machine. The others were reported when the worktree was made. */
async function modulesAt(
  project: GitProject,
  { repository, home, state, names, prefix }: Level,
): Promise<readonly Found[]> {
  using own = openRefs(repository, project.scratch);
  const found: Found[] = [];
  for (const { name, path: below, commit } of await submodulesOf(own, state)) {
    const dir = findModule(home, { name, path: below });
    const module = dir === undefined || name === undefined ? undefined : await openModule(dir);
    if (module === undefined || name === undefined || !(await hasCommit(module, project.scratch, commit))) continue;
    const inside = homeInside(home, module, below);
    found.push({ path: `${prefix}${below}`, names: [...names, name], module, home: inside, commit });
  }
  return found;
}

/** Writes the files first, then HEAD: a killed restore starts again. */
async function putAt(
  project: GitProject,
  { agentName }: OwnedWorktree,
  { gitDir, workTree, ...planned }: Found & { readonly gitDir: string; readonly workTree: string },
): Promise<void> {
  const { module, commit, names } = planned;
  await fillOne(project, { agentName, gitDir, workTree }, planned);
  const { scratch, repository } = project;
  const moduleDir = moduleDirIn(gitDir, names);
  await writeFiles({ planned, workTree, index: join(moduleDir, "index"), scratch, trust: repository.trust });
  await changeModuleRefs(module, { set: [{ name: baseRef(agentName), commit }] });
  writeAtomically(join(moduleDir, "HEAD"), `${commit}\n`, 0o644);
}

/** The newest uncommitted work, if it was on top of this commit. */
async function lastWork(module: Repository, agentName: string, onTop: string): Promise<string | undefined> {
  if ((await lastBase(module, agentName)) !== onTop) return undefined;
  const [last] = await moduleRefs(module, lastWorkRef(agentName));
  return last?.commit;
}

async function writeWork(
  project: GitProject,
  module: Repository,
  { workTree, from, to }: { readonly workTree: string; readonly from: string; readonly to: string },
): Promise<readonly string[]> {
  using own = overFiles(project, module, workTree);
  const changed = await differences(own, from, to);
  expectGit(await own.git(["read-tree", to]), "reading what was uncommitted in a submodule");
  const written = changed.filter(({ status }) => status !== "D");
  const stdin = Buffer.concat(written.flatMap(({ path }) => [path, Buffer.of(0)]));
  expectGit(await own.git(["checkout-index", "--force", "-z", "--stdin"], { stdin }), "writing files of a submodule");
  for (const { path, status } of changed) {
    const file = join(workTree, path.toString());
    if (status === "D" && !isRealDirectory(file)) rmSync(file, { force: true });
  }
  return changed.map(({ path }) => path.toString());
}

/** A view of git that writes the kept bytes into the work tree. */
const overFiles = ({ scratch }: GitProject, repository: Repository, workTree: string): OwnDir =>
  openOwnDir({ repository, scratch, objects: "project", workTree });
