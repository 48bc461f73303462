import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { OwnedWorktree } from "../../ports/worktrees.ts";
import { ifThere, lstatIfThere } from "../file-access.ts";
import { expectNoWayOut } from "./leads-outside.ts";
import type { Place, Repository } from "./repository.ts";

/**
 * Undefined when the worktree has no usable git directory, because it is gone or the agent broke it. Throws where a clone
 * would lead git to other repositories.
 */
export function placeOf(
  repository: Repository,
  worktree: Pick<OwnedWorktree, "path" | "kind" | "identity">,
): Place | undefined {
  const { path, kind } = worktree;
  if (kind !== "root" && standing(worktree) !== "own") return undefined;
  if (kind === "clone") {
    const place = ownPlace(join(path, ".git"));
    if (place !== undefined) expectNoWayOut({ path, repository });
    return place;
  }
  return kind === "root" ? placeIn(repository, repository.gitDir) : recordOf(repository, path);
}

/** What git has on record of the linked worktree at `path`, whether or not that still exists. */
export function recordOf(repository: Repository, path: string): Place | undefined {
  const admin = adminDirOf(repository, path);
  return admin === undefined ? undefined : placeIn(repository, admin);
}

function placeIn({ commonDir: refs, objects }: Repository, gitDir: string): Place | undefined {
  const head = headText(gitDir);
  return head === undefined ? undefined : { gitDir, refs, objects, head };
}

/**
 * What stands at the path of a worktree. Agents can move their directory away and put a link or another directory in its
 * place: nothing of ours may look into that, empty it or start there.
 */
export function standing({ path, identity = null }: Pick<OwnedWorktree, "path" | "identity">): Standing {
  const stat = ifThere(() => lstatSync(path, { throwIfNoEntry: false, bigint: true }));
  if (stat === undefined) return "nothing";
  if (stat.isSymbolicLink()) return "link";
  if (!stat.isDirectory()) return "file";
  if (identity === null) return "own";
  const [device, inode, born] = identity.split(":");
  // The numbers of devices may change with a reboot, but then those of the directory above change alike.
  const sameDevice = String(stat.dev) === device || stat.dev === lstatSync(dirname(path), { bigint: true }).dev;
  const sameBirth = born === undefined || String(stat.birthtimeNs) === born;
  return sameDevice && sameBirth && String(stat.ino) === inode ? "own" : "other";
}

/** `own`: the directory the agent was given. The others, except `nothing`, do not belong to the agent. */
export type Standing = "own" | "nothing" | "link" | "file" | "other";

/** Completes "... stands in its place". */
export const strangers: Readonly<Record<Exclude<Standing, "own" | "nothing">, string>> = {
  link: "a symbolic link",
  file: "a file",
  other: "another directory",
};

/**
 * Tells this directory from every other, for `standing`. File systems reuse the inode of a deleted directory, so the
 * time of birth is part of it. Where the system does not know that time, it returns none or the time of the last
 * change; then only the inode counts.
 */
export function directoryIdentity(path: string): string {
  const { dev, ino, birthtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
  return birthtimeNs === 0n || birthtimeNs === ctimeNs ? `${dev}:${ino}` : `${dev}:${ino}:${birthtimeNs}`;
}

/** Of a git directory with refs and objects of its own. */
export function ownPlace(gitDir: string): Place | undefined {
  // A link would let an agent show us another repository as its own.
  if (![gitDir, join(gitDir, "objects"), join(gitDir, "refs")].every(isRealDirectory)) return undefined;
  const head = headText(gitDir);
  return head === undefined ? undefined : { gitDir, refs: gitDir, objects: join(gitDir, "objects"), head };
}

/** The directory under `.git/worktrees` that belongs to the worktree at `path`, whether or not that still exists. */
export function adminDirOf(repository: Pick<Repository, "commonDir">, path: string): string | undefined {
  const all = join(repository.commonDir, "worktrees");
  if (!existsSync(all)) return undefined;
  const wanted = placeInParent(path);
  const isOfIt = (dir: string): boolean => {
    const link = textOf(join(dir, "gitdir"))?.trim();
    return link !== undefined && placeInParent(dirname(resolve(dir, link))) === wanted;
  };
  // Git names the record after the worktree. Only if that name was taken, all the other records are read.
  const likely = join(all, basename(path));
  if (isOfIt(likely)) return likely;
  return readdirSync(all)
    .map((name) => join(all, name))
    .find(isOfIt);
}

function headText(gitDir: string): string | undefined {
  const text = textOf(join(gitDir, "HEAD"))?.trim();
  return text !== undefined && /^(ref: refs\/[^\s\0]+|[0-9a-f]{40,64})$/.test(text) ? text : undefined;
}

/** Where refs and objects are, found without a git process; undefined where the checkout is laid out unusually. */
export function commonDirOf(root: string): string | undefined {
  const entry = join(root, ".git");
  if (isRealDirectory(entry)) return entry;
  const points = gitLinkIn(entry);
  if (points === undefined) return undefined;
  const gitDir = resolve(root, points);
  const common = textOf(join(gitDir, "commondir"))?.trim();
  return common === undefined ? gitDir : resolve(gitDir, common);
}

/** Where a `.git` that is a file points. */
export const gitLinkIn = (file: string): string | undefined => /^gitdir: (.+?)\n*$/.exec(textOf(file) ?? "")?.[1];

/**
 * Small regular files only: a pipe in their place would hold us for ever. Others take their worktrees away while we look
 * through all of them.
 */
export function textOf(path: string): string | undefined {
  return ifThere(() => {
    const stat = lstatIfThere(path);
    return stat?.isFile() === true && stat.size < 8192 ? readFileSync(path, "utf8") : undefined;
  });
}

const isRealDirectory = (path: string): boolean => lstatIfThere(path)?.isDirectory() === true;

/** The last part is not followed: a link in the place of a worktree would show us the record of another one. */
const placeInParent = (path: string): string => join(real(dirname(path)), basename(path));

/** The path without links, as far as it exists. */
function real(path: string): string {
  const found = existsSync(path) ? ifThere(() => realpathSync(path)) : undefined;
  if (found !== undefined) return found;
  const parent = dirname(path);
  return parent === path ? path : join(real(parent), path.slice(parent.length));
}

/** A directory next to a worktree. No agent's worktree can have its name: names of agents never begin with a dot. */
export const hiddenSibling = (path: string, purpose: "preparing" | "removing"): string =>
  join(dirname(path), `.${basename(path)}.${purpose}`);
