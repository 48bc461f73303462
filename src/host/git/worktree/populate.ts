import { copyFileSync, existsSync, mkdirSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { matchesGlob } from "../../../domain/text/glob.ts";
import { lstatIfThere, statIfThere } from "../../file-access.ts";
import { rulesFor } from "../filters.ts";
import { expectRoom } from "../full-disk.ts";
import { expectGit } from "../git.ts";
import { openOwnDir } from "../own-dir.ts";
import type { GitProject } from "../repository.ts";

/**
 * Writes the files of a commit into an empty worktree and its index, as plain git would, then copies what the project
 * wants in every worktree. Throws unless every file could be written; where there was no room for them, as `disk-full`.
 */
export async function populate(
  project: GitProject,
  { path, index, commit }: { readonly path: string; readonly index: string; readonly commit: string },
): Promise<void> {
  const { repository, scratch } = project;
  using own = openOwnDir({
    repository,
    scratch,
    head: commit,
    index,
    workTree: path,
    objects: "project",
    files: await rulesFor(repository, commit),
  });
  const written = await own.git(["read-tree", "-m", "-u", commit]);
  expectRoom(written, path);
  expectGit(written, "writing the files");
  copyIncluded(project, path);
}

function copyIncluded({ repository, include }: GitProject, worktree: string): void {
  for (const path of includedIn(repository.root, include)) {
    const to = join(worktree, path);
    // A tracked link that leads nowhere would be followed, and the copy would be made where it leads.
    if (lstatIfThere(to) !== undefined || leadsOut(worktree, dirname(to))) continue;
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(join(repository.root, path), to);
  }
}

/** Files of a directory that `worktree.include` names. */
export const includedIn = (root: string, include: readonly string[]): readonly string[] =>
  include.flatMap((pattern) => matching(root, pattern));

function matching(root: string, pattern: string): readonly string[] {
  const plain = pattern.replace(/\/+$/, "");
  if (statIfThere(join(root, plain))?.isFile() === true) return isOurs(plain) ? [] : [plain];
  if (lstatIfThere(join(root, plain))?.isDirectory() === true) {
    return filesBelow(root, plain, Number.POSITIVE_INFINITY);
  }
  const steps = plain.split("/");
  const fixed = steps
    .slice(
      0,
      steps.findIndex((step) => /[*?[{]/.test(step)),
    )
    .join("/");
  const depth = plain.includes("**") ? Number.POSITIVE_INFINITY : steps.length;
  return filesBelow(root, fixed, depth).filter((path) => matchesGlob(path, plain));
}

/** Git's directory and our own are never copied. */
const isOurs = (path: string): boolean => /^\.(overstory|git)(\/|$)/.test(path);

/** The plain files in a directory, not through links, whose paths have at most so many steps. */
function filesBelow(root: string, dir: string, depth: number): readonly string[] {
  if (isOurs(dir) || statIfThere(join(root, dir))?.isDirectory() !== true) return [];
  return readdirSync(join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const path = dir === "" ? entry.name : `${dir}/${entry.name}`;
    if (entry.isFile()) return isOurs(path) ? [] : [path];
    return entry.isDirectory() && path.split("/").length < depth ? filesBelow(root, path, depth) : [];
  });
}

/** A tracked link among the directories would take the copy somewhere else. */
function leadsOut(worktree: string, dir: string): boolean {
  if (!existsSync(dir)) return lstatIfThere(dir) !== undefined || leadsOut(worktree, dirname(dir));
  const real = realpathSync(dir);
  const home = realpathSync(worktree);
  return real !== home && !real.startsWith(`${home}/`);
}
