import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { OwnedWorktree } from "../../ports/worktrees.ts";
import type { Repository } from "./repository.ts";

/** Where git keeps the state of one worktree. Read as data; its configuration is never used. */
export interface Place {
  readonly gitDir: string;
  /** Directory with `refs` and `packed-refs`. */
  readonly refs: string;
  readonly objects: string;
  /** The text of HEAD: a symbolic ref or a commit. */
  readonly head: string;
}

/** Undefined when the worktree has no usable git directory, because it is gone or the agent broke it. */
export function placeOf(
  repository: Repository,
  { path, kind }: Pick<OwnedWorktree, "path" | "kind">,
): Place | undefined {
  if (kind === "clone") return clonePlace(path);
  const gitDir = kind === "root" ? repository.gitDir : adminDirOf(repository, path);
  if (gitDir === undefined || !existsSync(path)) return undefined;
  const head = headText(gitDir);
  return head === undefined ? undefined : { gitDir, refs: repository.commonDir, objects: repository.objects, head };
}

function clonePlace(path: string): Place | undefined {
  const gitDir = join(path, ".git");
  // A link would let an agent show us another repository as its own.
  if (![gitDir, join(gitDir, "objects"), join(gitDir, "refs")].every(isRealDirectory)) return undefined;
  const head = headText(gitDir);
  return head === undefined ? undefined : { gitDir, refs: gitDir, objects: join(gitDir, "objects"), head };
}

/** The directory under `.git/worktrees` that belongs to the worktree at `path`, whether or not that still exists. */
export function adminDirOf(repository: Repository, path: string): string | undefined {
  const all = join(repository.commonDir, "worktrees");
  if (!existsSync(all)) return undefined;
  const wanted = real(path);
  return readdirSync(all)
    .map((name) => join(all, name))
    .find((dir) => {
      const link = textOf(join(dir, "gitdir"))?.trim();
      return link !== undefined && real(dirname(resolve(dir, link))) === wanted;
    });
}

function headText(gitDir: string): string | undefined {
  const text = textOf(join(gitDir, "HEAD"))?.trim();
  return text !== undefined && /^(ref: refs\/[^\s\0]+|[0-9a-f]{40,64})$/.test(text) ? text : undefined;
}

/** Small regular files only: a pipe in their place would hold us for ever. */
function textOf(path: string): string | undefined {
  return unlessGone(() => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size < 8192 ? readFileSync(path, "utf8") : undefined;
  });
}

/** Others take their worktrees away while we look through all of them. */
function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

const isRealDirectory = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** The path without links, as far as it exists. */
function real(path: string): string {
  const found = existsSync(path) ? unlessGone(() => realpathSync(path)) : undefined;
  if (found !== undefined) return found;
  const parent = dirname(path);
  return parent === path ? path : join(real(parent), path.slice(parent.length));
}
