import { type GitAnswer, git } from "./git.ts";

const mostTries = 8;
const betweenTriesMs = 15;

/**
 * Runs `git worktree ...`. For each of these commands git reads about all worktrees, and gives up over one that somebody
 * is just adding or taking away: then it is asked again a moment later.
 */
export async function gitWorktree(root: string, ...args: string[]): Promise<GitAnswer> {
  for (let tries = 1; ; tries++) {
    const answer = await git(root, "worktree", ...args);
    if (answer.code === 0 || tries === mostTries || !metHalfOfOne(answer)) return answer;
    await Bun.sleep(betweenTriesMs * tries);
  }
}

/** It names the file of the entry that it could not make sense of. */
const metHalfOfOne = ({ err }: GitAnswer): boolean => /worktrees\/[^/\n]+\/(commondir|gitdir|locked|HEAD)\b/.test(err);
