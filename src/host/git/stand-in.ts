import { existsSync, lstatSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { SeatRequest } from "../../ports/worktrees.ts";
import { git } from "./git.ts";
import { adminDirOf, gitLinkIn, ownPlace, standing } from "./places.ts";
import { freshPath, openTrash, trashName } from "./trash.ts";
import type { Yard } from "./yard.ts";

/**
 * Is what stands at the path the worktree that is asked for? Either it is the directory that was recorded for the agent,
 * or git's own link leads from it to the record of this worktree: then we made it and died before it was recorded, or
 * somebody put a copy of it back. Any other directory is a stand-in: linked to the branch, its missing files would be
 * the agent's next commit.
 */
export async function isWorktreeOf(yard: Yard, request: Omit<SeatRequest, "baseRef">): Promise<boolean> {
  const { path, kind, identity = null } = request;
  const found = standing({ path, identity });
  if (found !== "own" && found !== "other") return false;
  const link = join(path, ".git");
  if (kind === "clone") return ownPlace(link) !== undefined && readsObjectsOf(yard, link);
  const points = gitLinkIn(link);
  if (points !== undefined && resolve(path, points) === adminDirOf(yard.repository, path)) return true;
  return identity !== null && found === "own" && !(await isEmptied(yard, request));
}

/** A clone of ours relies on the objects of the project. */
function readsObjectsOf({ repository }: Yard, gitDir: string): boolean {
  const alternates = alternatesOf(gitDir);
  return existsSync(alternates) && readFileSync(alternates, "utf8").split("\n").includes(repository.objects);
}

export const alternatesOf = (gitDir: string): string => join(gitDir, "objects", "info", "alternates");

/** The directory has neither its link nor a single file or folder of its branch: everything in it was deleted. */
async function isEmptied(
  { repository }: Yard,
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
 * Moves a stand-in out of the way of a worktree that is to be made anew. Answers where it went. The name in the trash is
 * not the agent's: what lay there must not be taken for its work.
 */
export async function putAsideStandIn(yard: Yard, request: SeatRequest): Promise<string | undefined> {
  const { path, agentName, kind, identity = null } = request;
  if (kind === "root" || identity === null || standing({ path }) === "nothing") return undefined;
  if (await isWorktreeOf(yard, request)) return undefined;
  const trash = openTrash(freshPath(join(yard.trash, trashName(`Found-at-${agentName}`, Date.now()))));
  trash.take(dirname(path), basename(path), "work");
  return trash.used === undefined ? undefined : join(trash.used, basename(path));
}
