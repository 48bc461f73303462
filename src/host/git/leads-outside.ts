import { type Dirent, readdirSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Failure } from "../../domain/failure.ts";
import { shellWord } from "../../domain/text/shell-word.ts";
import { ifThere, lstatIfThere, readText } from "../file-access.ts";
import type { Repository } from "./repository.ts";

/** A clone of an agent's, and the repository whose objects it may read. */
interface Clone {
  readonly path: string;
  readonly repository: Pick<Repository, "commonDir" | "root">;
}

/**
 * Refuses an agent's clone whose git directory would lead git out of it. A confined agent cannot read what is hidden from
 * it, but our git can: a link among its objects or refs would bring a hidden repository into the project.
 */
export function expectNoWayOut(clone: Clone): void {
  const problem = wayOut(clone, join(clone.path, ".git"));
  if (problem !== undefined) throw new Failure({ kind: "worktree-damaged", path: clone.path, problem });
}

/** How git would be led out of a git directory in a clone, in words. */
export function wayOut(clone: Clone, gitDir: string): string | undefined {
  const left = [gitDir];
  for (let dir = left.pop(); dir !== undefined; dir = left.pop()) {
    for (const entry of entriesOf(dir)) {
      const path = join(dir, entry.name);
      if (dir === gitDir && notRead.has(entry.name)) continue;
      if (entry.isSymbolicLink()) return `${path} is a symbolic link, which git would follow; ${removal(path)}`;
      if (entry.isDirectory()) left.push(path);
      else if (path.endsWith("/objects/info/alternates") && !readsOnlyKnown(path, clone)) {
        return `${path} names objects of another repository; ${removal(path)}`;
      }
    }
  }
  return undefined;
}

const removal = (path: string): string => `remove it: rm ${shellWord(path)}`;

/** Directories of a git directory that no git of ours reads there. */
const notRead = new Set(["hooks", "lfs", "annex"]);

const entriesOf = (dir: string): readonly Dirent[] => ifThere(() => readdirSync(dir, { withFileTypes: true })) ?? [];

/** Do all lines of a list of object directories lead to the clone itself or to the project? Git knows quoted lines too. */
function readsOnlyKnown(alternates: string, { path, repository: { commonDir, root } }: Clone): boolean {
  const objects = dirname(dirname(alternates));
  const lines = (readText(alternates) ?? "").split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.every((line) => {
    if (line.startsWith('"')) return false;
    const real = ifThere(() => realpathSync(resolve(objects, line)));
    // The directories beside the clone belong to other agents. A path that does not exist leads nowhere.
    const isKnown = (place: string): boolean =>
      isIn(place, path) || isIn(place, commonDir) || (isIn(place, root) && !isIn(place, dirname(path)));
    return real === undefined || isKnown(real);
  });
}

function isIn(real: string, dir: string): boolean {
  const top = ifThere(() => realpathSync(dir)) ?? dir;
  return real === top || real.startsWith(`${top}/`);
}

/**
 * The same for a submodule in a worktree. Git asks the repository behind its `.git` for its commit, and quotes the files of
 * that repository where they are broken.
 */
export function submoduleWayOut(clone: Clone, path: string): string | undefined {
  const link = join(clone.path, path, ".git");
  const stat = lstatIfThere(link);
  if (stat === undefined) return undefined;
  const leads = `${link} leads to a repository outside of the worktree; ${removal(link)}`;
  if (stat.isSymbolicLink()) return leads;
  const named = stat.isDirectory() ? link : resolve(dirname(link), pointerIn(link, /^gitdir: (.+?)\n*$/) ?? ".git");
  const gitDir = ifThere(() => realpathSync(named));
  if (gitDir === undefined) return undefined;
  const common = pointerIn(join(gitDir, "commondir"), /^(.+?)\n*$/);
  const refs = common === undefined ? gitDir : ifThere(() => realpathSync(resolve(gitDir, common)));
  if (!isIn(gitDir, clone.path) || (refs !== undefined && !isIn(refs, clone.path))) return leads;
  return wayOut(clone, gitDir);
}

const pointerIn = (file: string, form: RegExp): string | undefined =>
  lstatIfThere(file)?.isFile() === true ? form.exec(readText(file) ?? "")?.[1] : undefined;
