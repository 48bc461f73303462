import { existsSync, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expectGit } from "./git.ts";
import { adminDirOf, textOf } from "./places.ts";
import type { GitProject, Repository } from "./repository.ts";
import { gitWorktree } from "./worktree-command.ts";

/** One worktree as git lists it. */
export interface Entry {
  readonly path: string;
  readonly head: string | undefined;
  /** Full name of the branch; undefined when detached. */
  readonly branch: string | undefined;
  /**
   * Branches that a rebase or bisection in this worktree will move or return to. Git refuses to check them out
   * elsewhere.
   */
  readonly held: readonly string[];
  /** Why it is locked; undefined when it is not. */
  readonly lock: string | undefined;
  readonly isBare: boolean;
}

/** All linked worktrees of the project, its own checkout first. */
export async function listEntries({ repository }: Pick<GitProject, "repository">): Promise<readonly Entry[]> {
  const list = expectGit(await gitWorktree(repository.root, "list", "--porcelain", "-z"), "listing worktrees");
  return list.out
    .split("\0\0")
    .map((entry) => entry.split("\0"))
    .filter((lines) => lines[0]?.startsWith("worktree ") === true)
    .map((lines, at) => {
      const after = (word: string): string | undefined =>
        lines.find((line) => line === word || line.startsWith(`${word} `))?.slice(word.length + 1);
      const path = after("worktree") ?? "";
      // A rebase and a bisection both detach the checkout.
      const gitDir = !lines.includes("detached")
        ? undefined
        : at === 0
          ? repository.commonDir
          : adminDirOf(repository, path);
      return {
        path,
        head: after("HEAD"),
        branch: after("branch"),
        held: gitDir === undefined ? [] : heldIn(gitDir),
        lock: after("locked"),
        isBare: lines.includes("bare"),
      };
    });
}

/** Does this worktree have the branch, checked out or in a rebase or bisection? */
export const hasBranch = ({ branch, held }: Entry, ref: string): boolean => branch === ref || held.includes(ref);

/**
 * Could some checkout have one of these branches? A look at a few files. False where no HEAD names one of them, and no
 * rebase or bisection does. Whatever is unusual counts as a yes: then git has to be asked.
 */
export function mayBeCheckedOut(
  { commonDir, isOrdinary }: Pick<Repository, "commonDir" | "isOrdinary">,
  refs: readonly string[],
): boolean {
  if (!isOrdinary) return true;
  const all = join(commonDir, "worktrees");
  const linked = existsSync(all) ? readdirSync(all).map((name) => join(all, name)) : [];
  return [commonDir, ...linked].some((gitDir) => {
    const head = textOf(join(gitDir, "HEAD"))?.trim();
    if (head === undefined) return true;
    if (/^[0-9a-f]{40,64}$/.test(head)) return heldIn(gitDir).some((name) => refs.includes(name));
    const branch = /^ref: (refs\/heads\/\S+)$/.exec(head)?.[1];
    return branch === undefined || refs.includes(branch) || standsForAnother(join(commonDir, branch));
  });
}

function standsForAnother(ref: string): boolean {
  const stat = lstatSync(ref, { throwIfNoEntry: false });
  return stat !== undefined && textOf(ref)?.startsWith("ref:") !== false;
}

function heldIn(gitDir: string): readonly string[] {
  const words = (file: string): readonly string[] => textOf(join(gitDir, file))?.split(/\s+/) ?? [];
  const started = words("BISECT_START").map((name) => (name.startsWith("refs/") ? name : `refs/heads/${name}`));
  const rebased = ["rebase-merge/head-name", "rebase-merge/update-refs", "rebase-apply/head-name"].flatMap(words);
  return [...rebased, ...started].filter((name) => name.startsWith("refs/heads/") && name !== "refs/heads/");
}
