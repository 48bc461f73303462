import { existsSync, lstatSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { shellWord } from "../../../domain/text/shell-word.ts";
import type { GitLink, OwnedWorktree } from "../../../ports/worktrees.ts";
import { adminDirOf, gitLinkIn, ownPlace, standing, strangers, textOf } from "../places.ts";

/** What a commit writes to in the git directory that all worktrees share. Branches of others are in `refs` too. */
const sharedByCommits = ["objects", "refs", "logs"];

export function writableRootsOf(commonDir: string, { path, kind }: OwnedWorktree): readonly string[] {
  if (kind === "root") return [];
  if (kind === "clone") return [path];
  const admin = adminDirOf({ commonDir }, path);
  return [path, ...(admin === undefined ? [] : [admin]), ...sharedByCommits.map((name) => join(commonDir, name))];
}

/**
 * Makes sure that git commands of an agent belong to its worktree. Without the `.git` of a worktree, git would look
 * further up and find the user's checkout; the agent would commit there.
 */
export async function ensureGitLink(
  commonDir: string,
  worktree: OwnedWorktree,
  { isEmptied }: { readonly isEmptied: () => Promise<boolean> },
): Promise<GitLink> {
  const { path, kind, agentName } = worktree;
  if (kind === "root") return { kind: "sound" };
  const found = standing(worktree);
  if (found === "nothing") {
    const moved = movedTo(commonDir, worktree);
    const back =
      moved === undefined ? "" : `; git has it at ${moved}, and this moves it back: ${moveBack(moved, path)}`;
    return { kind: "broken", problem: `the worktree ${path} is gone${back}` };
  }
  if (found !== "own") {
    return { kind: "broken", problem: `${strangers[found]} stands at ${path} instead of the worktree of ${agentName}` };
  }
  if (kind === "clone") {
    const isThere = ownPlace(join(path, ".git")) !== undefined;
    return isThere ? { kind: "sound" } : { kind: "broken", problem: `${path} has lost its git directory` };
  }
  const admin = adminDirOf({ commonDir }, path);
  if (admin === undefined) {
    return { kind: "broken", problem: `git has no record of the worktree ${path} any more (.git/worktrees)` };
  }
  const link = join(path, ".git");
  if (lstatSync(link, { throwIfNoEntry: false })?.isDirectory() === true) {
    return { kind: "broken", problem: `a repository of its own was made in ${path}: its .git is a directory` };
  }
  const points = gitLinkIn(link);
  if (points !== undefined && resolve(path, points) === admin) return { kind: "sound" };
  // With a link, every file that is gone would be a deletion in the agent's next commit.
  if (readdirSync(path).length === 0 || (await isEmptied())) {
    return { kind: "broken", problem: `the files of the worktree ${path} are gone` };
  }
  // In one step, and over whatever is there: a link would be replaced, not followed.
  const written = join(admin, "link.new");
  writeFileSync(written, `gitdir: ${admin}\n`);
  renameSync(written, link);
  return { kind: "mended" };
}

/** Where `git worktree move` took a worktree: git has a record of its branch, whose directory is elsewhere. */
function movedTo(commonDir: string, { path, branch }: OwnedWorktree): string | undefined {
  const all = join(commonDir, "worktrees");
  for (const name of existsSync(all) ? readdirSync(all) : []) {
    const link = textOf(join(all, name, "gitdir"))?.trim();
    const isOnBranch = textOf(join(all, name, "HEAD"))?.trim() === `ref: refs/heads/${branch}`;
    const place = link === undefined ? path : dirname(resolve(join(all, name), link));
    if (isOnBranch && place !== path && existsSync(place)) return place;
  }
  return undefined;
}

/** What to type when a worktree was moved. */
export const moveBack = (from: string, to: string): string => `git worktree move ${shellWord(from)} ${shellWord(to)}`;
