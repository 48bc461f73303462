import { existsSync, lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { OwnedWorktree, SeatRequest } from "../../ports/worktrees.ts";
import { git } from "./git.ts";
import { adminDirOf, gitLinkIn, ownPlace, standing } from "./places.ts";
import type { GitProject } from "./repository.ts";
import { freshPath, openTrash, trashName } from "./trash.ts";

/**
 * Is the directory at the path the agent's worktree? Yes if it is the recorded directory, or if git's own link leads
 * from it to the record of this worktree: then we died before recording it, or a person put a copy back. Any other
 * directory is a stand-in. Linked to the branch, its missing files would be deletions in the agent's next commit.
 */
export async function isWorktreeOf(project: GitProject, request: Omit<SeatRequest, "baseRef">): Promise<boolean> {
  const { path, kind, identity = null } = request;
  const found = standing({ path, identity });
  if (found !== "own" && found !== "other") return false;
  const link = join(path, ".git");
  if (kind === "clone") return ownPlace(link) !== undefined && readsObjectsOf(project, link);
  const points = gitLinkIn(link);
  if (points !== undefined && resolve(path, points) === adminDirOf(project.repository, path)) return true;
  return identity !== null && found === "own" && !(await isEmptied(project, request));
}

/** A clone that we made reads the objects of the project. */
function readsObjectsOf({ repository }: GitProject, gitDir: string): boolean {
  const alternates = alternatesOf(gitDir);
  return existsSync(alternates) && readFileSync(alternates, "utf8").split("\n").includes(repository.objects);
}

export const alternatesOf = (gitDir: string): string => join(gitDir, "objects", "info", "alternates");

/** The agent's own directory stands there, with files of its branch or at least with its link to git. */
export const holdsWork = async (project: GitProject, worktree: OwnedWorktree): Promise<boolean> =>
  standing(worktree) === "own" && !(await isEmptied(project, worktree));

/** The directory has neither its link nor a single file or folder of its branch: its whole content was deleted. */
export async function isEmptied(
  { repository }: GitProject,
  { path, branch }: Pick<SeatRequest, "path" | "branch">,
): Promise<boolean> {
  if (lstatSync(join(path, ".git"), { throwIfNoEntry: false }) !== undefined) return false;
  const listed = await git(repository.root, "ls-tree", "-z", "--name-only", `refs/heads/${branch}`);
  const names = listed.out.split("\0").filter((name) => name !== "");
  return (
    names.length > 0 && names.every((name) => lstatSync(join(path, name), { throwIfNoEntry: false }) === undefined)
  );
}

/**
 * Moves a stand-in to the trash, so that the worktree can be made anew. Returns the new path. The name in the trash is
 * not the agent's, because the content is not the agent's work.
 */
export async function putAsideStandIn(project: GitProject, request: SeatRequest): Promise<string | undefined> {
  const { path, agentName, kind, identity = null } = request;
  if (kind === "root" || identity === null || standing({ path }) === "nothing") return undefined;
  if (await isWorktreeOf(project, request)) return undefined;
  const trash = openTrash(freshPath(join(project.trash, trashName(`Found-at-${agentName}`, Date.now()))));
  trash.take(dirname(path), basename(path), "work");
  return trash.used === undefined ? undefined : join(trash.used, basename(path));
}
