import { existsSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { atMost } from "../../../domain/at-most.ts";
import type { FoundBranch, OwnedWorktree, Removal } from "../../../ports/worktrees.ts";
import { errorCode, makeWithin } from "../../file-access.ts";
import { passOnFull } from "../full-disk.ts";
import { expectGit, runGit, zeroEnded } from "../git.ts";
import { scratchName } from "../leftovers.ts";
import { adminDirOf, hiddenSibling, standing, strangers } from "../places.ts";
import { commitAt, dropRef, pinRefs, refsBelow } from "../refs.ts";
import type { GitProject } from "../repository.ts";
import { checkedOutModules, moduleAsProject, openAgentModule } from "../submodules/agent-modules.ts";
import { keepSubmodules } from "../submodules/keep.ts";
import { dropBases, homeOf } from "../submodules/users-module.ts";
import { ownBranches } from "../work/collect.ts";
import { freshPath, keptModules, openTrash, removeAll, type Trash, trashName } from "../work/trash.ts";
import { findWork, isAsCommitted, providedFiles } from "../work/uncommitted.ts";
import { checkedOut } from "./list.ts";
import { type OpenWorktree, openWorktree } from "./open-worktree.ts";
import { includedIn } from "./populate.ts";

/**
 * Takes a worktree away. First what no snapshot holds goes to the trash; then the directory is moved aside in one step,
 * so from then on it is gone for every process and only tidying is left, which a second call finishes.
 */
export async function removeWorktree(
  project: GitProject,
  worktree: OwnedWorktree,
  { deleteBranch, now }: { readonly deleteBranch: string | null; readonly now: number },
): Promise<Removal> {
  if (worktree.kind === "root") {
    return { removed: false, trash: null, problem: "the project's own checkout is never removed" };
  }
  const stranger = strangerAt(worktree);
  const trash = openTrash(freshPath(join(project.trash, trashName(worktree.agentName, now))));
  try {
    await takeAway(project, worktree, trash).catch((error: unknown) => {
      // Another process was faster: the tidying that is left is the same for both.
      if (standing(worktree) === "own") throw error;
      return takeAway(project, worktree, trash);
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { removed: standing(worktree) !== "own", trash: trash.used ?? null, problem };
  }
  if (worktree.kind === "clone") await dropPins(project, worktree);
  await dropBases(homeOf(project.repository), worktree.agentName);
  const problem = deleteBranch === null ? null : await deleteBranchAt(project, worktree.branch, deleteBranch);
  return { removed: true, trash: trash.used ?? null, problem: stranger ?? problem };
}

/** What stands in the place of the worktree, in words; it is left as it is. */
function strangerAt(worktree: OwnedWorktree): string | null {
  const found = standing(worktree);
  if (found === "own" || found === "nothing") return null;
  const { path, agentName } = worktree;
  return `${strangers[found]} stands at ${path} instead of the worktree of ${agentName}; it was left as it is`;
}

/** Deletes a branch whose tip is still the given one and that no worktree has checked out. Answers why not, otherwise null. */
export async function deleteBranchAt(project: GitProject, branch: string, tip: string): Promise<string | null> {
  const ref = `refs/heads/${branch}`;
  if ((await commitAt(project, ref)) === undefined) return null;
  const where = (await checkedOut(project)).get(ref);
  if (where !== undefined) return `${branch} is checked out at ${where}; the branch was kept`;
  try {
    return (await dropRef(project, ref, tip)) ? null : `${branch} has moved on; the branch was kept`;
  } catch (error) {
    passOnFull(error, null);
    return `${branch} was kept: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The same for many at once; those that git refuses together are tried one by one. */
export async function deleteBranchesAt(
  project: GitProject,
  branches: readonly FoundBranch[],
): Promise<readonly (string | null)[]> {
  const inUse = await checkedOut(project);
  const free = branches.filter(({ branch }) => !inUse.has(`refs/heads/${branch}`));
  const stdin = free.map(({ branch, tip }) => `delete refs/heads/${branch}\0${tip}\0`).join("");
  const { root } = project.repository;
  const together =
    stdin === "" ? undefined : await runGit({ cwd: root, args: ["update-ref", "--no-deref", "-z", "--stdin"], stdin });
  const areGone = together?.code === 0 ? new Set(free) : new Set<FoundBranch>();
  const one = async (found: FoundBranch): Promise<string | null> =>
    areGone.has(found) ? null : deleteBranchAt(project, found.branch, found.tip);
  return atMost(1, branches, one);
}

async function takeAway(project: GitProject, worktree: OwnedWorktree, trash: Trash): Promise<void> {
  const aside = hiddenSibling(worktree.path, "removing");
  let modulesAreKept: boolean;
  const found = standing(worktree);
  if (found === "own") {
    modulesAreKept = await fillTrash(project, worktree, trash);
    if (existsSync(aside)) removeAll(aside);
    renameSync(worktree.path, aside);
    if (standing({ ...worktree, path: aside }) !== "own") {
      // Another directory was put there in the last moment.
      renameSync(aside, worktree.path);
      throw new Error(`${worktree.path} is no longer the worktree of ${worktree.agentName}; nothing was removed`);
    }
  } else {
    modulesAreKept = (await keepSubmodules(project, worktree)).every(({ problem }) => problem === null);
    // A person has made a worktree there meanwhile, as our rescue message tells them to. The record belongs to that
    // worktree.
    if (found === "nothing" && standing({ path: worktree.path }) !== "nothing") return;
  }
  if (worktree.kind === "linked") forget(project, worktree, trash, { modulesAreKept });
  if (existsSync(aside)) removeAll(aside);
}

/** Answers whether everything in its submodules that has a ref is kept elsewhere. */
async function fillTrash(project: GitProject, worktree: OwnedWorktree, trash: Trash): Promise<boolean> {
  const submodules = await emptySubmodules(project, worktree, trash);
  using open = await openWorktree(project, worktree);
  const isProvided = providedFiles(project);
  const tracked = await open.tracked();
  const isTracked = new Set(tracked.map(({ path }) => path));
  for (const path of includedIn(worktree.path, [...project.include, ...project.deployed])) {
    if (!isTracked.has(path)) rmSync(join(worktree.path, path), { force: true });
  }
  const [ignored, skipped] = (await isAsCommitted(project, open, "ignored too"))
    ? [[], []]
    : await Promise.all([ignoredPaths(open), findWork(project, open, worktree.path).then((work) => work.skipped)]);
  const isWork = (path: Buffer): boolean => !isProvided(path.toString().replace(/\/$/, ""));
  for (const path of skipped.filter(isWork)) trash.take(worktree.path, path, "work");
  for (const path of ignored.filter(isWork)) trash.take(worktree.path, path, "ignored");
  // A repository that the agent made in the place of its own: its commits are nowhere else.
  const ownRepository = join(worktree.path, ".git");
  if (worktree.kind === "linked" && lstatSync(ownRepository, { throwIfNoEntry: false })?.isDirectory() === true) {
    trash.take(worktree.path, ".git", "work");
  }
  // A submodule whose work could not be kept as commits is kept as files.
  for (const { path } of tracked.filter(({ mode }) => mode === submoduleMode)) {
    if (!submodules.kept.has(path) && hasFiles(join(worktree.path, path))) trash.take(worktree.path, path, "work");
  }
  return submodules.areWhole;
}

/** A directory in which everything is ignored stands for all that is in it. */
async function ignoredPaths({ own }: OpenWorktree): Promise<readonly Buffer[]> {
  const args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  return zeroEnded(expectGit(await own.git(args), "listing ignored files").raw);
}

interface EmptySubmodules {
  /** Paths of those of which nothing else need be kept. */
  readonly kept: ReadonlySet<string>;
  /** No submodule was broken. */
  readonly areWhole: boolean;
}

/** Keeps the work in the submodules, then moves files that no snapshot holds to the trash. A broken submodule goes there whole. */
async function emptySubmodules(project: GitProject, worktree: OwnedWorktree, trash: Trash): Promise<EmptySubmodules> {
  const problems = (await keepSubmodules(project, worktree)).filter(({ problem }) => problem !== null);
  const lost = (path: string): boolean => problems.some((one) => path === one.path || path.startsWith(`${one.path}/`));
  const kept = new Set<string>();
  for (const found of await checkedOutModules(project, worktree)) {
    if (lost(found.path)) {
      trash.take(worktree.path, found.path, "work");
      continue;
    }
    using open = await openAgentModule(project, worktree, found);
    const root = join(worktree.path, found.path);
    const [ignored, { skipped }] = await Promise.all([
      ignoredPaths(open),
      findWork(moduleAsProject(project, found), open, root),
    ]);
    const inTop = (path: Buffer): Buffer => Buffer.concat([Buffer.from(`${found.path}/`), path]);
    for (const path of skipped) trash.take(worktree.path, inTop(path), "work");
    for (const path of ignored) trash.take(worktree.path, inTop(path), "ignored");
    kept.add(found.path);
  }
  return { kept, areWhole: problems.length === 0 };
}

const submoduleMode = "160000";

const hasFiles = (dir: string): boolean => existsSync(dir) && readdirSync(dir).length > 0;

/**
 * Git's own record of the worktree. The repositories of its submodules lie in there. It leaves git's list in one step:
 * git gives up over a record that is half there, and a process that is killed must not leave such a thing.
 */
function forget(
  project: GitProject,
  { path }: OwnedWorktree,
  trash: Trash,
  { modulesAreKept }: { readonly modulesAreKept: boolean },
): void {
  const admin = adminDirOf(project.repository, path);
  if (admin === undefined) return;
  const modules = join(admin, "modules");
  if (hasObjects(modules)) renameSync(modules, join(admin, keptModules));
  trash.take(admin, keptModules, modulesAreKept ? "ignored" : "work");
  makeWithin(project.scratch, 3);
  const aside = freshPath(join(project.scratch, `${scratchName("unlink")}${basename(admin)}`));
  try {
    renameSync(admin, aside);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") return;
    if (code !== "EXDEV") throw error;
    removeAll(admin);
  }
  removeAll(aside);
}

/** A module may hold commits that had a ref once and exist nowhere else. */
function hasObjects(dir: string): boolean {
  if (!existsSync(dir)) return false;
  return readdirSync(dir, { recursive: true, withFileTypes: true }).some(
    (entry) => entry.isFile() && /\/objects\/([0-9a-f]{2}|pack)$/.test(entry.parentPath),
  );
}

/** A branch of another name exists nowhere else, so its pin stays. */
async function dropPins(project: GitProject, worktree: OwnedWorktree): Promise<void> {
  const prefix = pinRefs(worktree.agentName);
  const own = ownBranches(worktree).replace("refs/", prefix);
  for (const { name, commit } of await refsBelow(project, prefix)) {
    if (name === `${prefix}base` || (name.startsWith(own) && (await isKept(project, name, commit)))) {
      await dropRef(project, name, commit);
    }
  }
}

async function isKept(project: GitProject, pin: string, commit: string): Promise<boolean> {
  const branch = pin.slice(pin.indexOf("/heads/") + 1);
  return (await commitAt(project, `refs/${branch}`)) === commit;
}
