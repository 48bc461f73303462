import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { SeatRequest } from "../../ports/worktrees.ts";
import { fileRules } from "./filters.ts";
import { expectGit } from "./git.ts";
import { lastTip } from "./kept-work.ts";
import { scratchName } from "./leftovers.ts";
import { putAmong } from "./link-new.ts";
import { openOwnDir } from "./own-dir.ts";
import { adminDirOf, standing } from "./places.ts";
import { commitAt, newRef } from "./refs.ts";
import type { GitProject } from "./repository.ts";

/**
 * The agent's own directory stands there, but git has no record of it, as after a prune while the disk was not mounted.
 */
export function hasLostRecord({ repository }: GitProject, request: SeatRequest): boolean {
  const { path, identity = null } = request;
  if (identity === null || standing({ path, identity }) !== "own") return false;
  const isRepository = lstatSync(join(path, ".git"), { throwIfNoEntry: false })?.isDirectory() === true;
  return !isRepository && adminDirOf(repository, path) === undefined;
}

/**
 * Makes git's record of the worktree anew, on the agent's branch, over the files as they are: uncommitted changes are
 * uncommitted again. The staged state and the state of a rebase went with the old record; a snapshot has them. A
 * missing branch is put back where the last snapshot was. Returns the reason in words if that fails. The record is
 * complete when git first sees it; the link in the worktree comes after it and is mended before every turn.
 */
export async function relink(project: GitProject, request: SeatRequest): Promise<string | undefined> {
  const { path, branch } = request;
  const { repository, scratch } = project;
  const ref = `refs/heads/${branch}`;
  const known = await commitAt(project, ref);
  const tip = known ?? (await lastTip(project, request));
  if (tip === undefined) return `git has lost its record of ${path}, and there is no branch ${branch}`;
  if (known === undefined) await newRef(project, ref, tip);
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const made = mkdtempSync(join(scratch, scratchName("link")));
  try {
    await writeIndex(project, { index: join(made, "index"), path, tip });
    writeFileSync(join(made, "gitdir"), `${join(realpathSync(path), ".git")}\n`);
    writeFileSync(join(made, "commondir"), "../..\n");
    writeFileSync(join(made, "HEAD"), `ref: ${ref}\n`);
    const admin = putAmong(join(repository.commonDir, "worktrees"), basename(path), made);
    rmSync(join(path, ".git"), { force: true });
    writeFileSync(join(path, ".git"), `gitdir: ${admin}\n`);
    return undefined;
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    throw error;
  }
}

async function writeIndex(
  { repository, scratch }: GitProject,
  { index, path, tip }: { readonly index: string; readonly path: string; readonly tip: string },
): Promise<void> {
  using own = openOwnDir({
    repository,
    scratch,
    head: tip,
    index,
    workTree: path,
    objects: "project",
    files: await fileRules(repository),
  });
  expectGit(await own.git(["read-tree", tip]), "reading the branch");
  // The command fails where files differ, which does not matter here.
  await own.git(["update-index", "-q", "--refresh"]);
}
