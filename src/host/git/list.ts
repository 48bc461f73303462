import { expectGit } from "./git.ts";
import { gitWorktree } from "./worktree-command.ts";
import type { Yard } from "./yard.ts";

/** One worktree as git lists it. */
export interface Entry {
  readonly path: string;
  readonly head: string | undefined;
  /** Full name of the branch; undefined when detached. */
  readonly branch: string | undefined;
  /** Why it is locked; undefined when it is not. */
  readonly lock: string | undefined;
  readonly isBare: boolean;
}

/** All linked worktrees of the project, its own checkout first. */
export async function listEntries({ repository }: Pick<Yard, "repository">): Promise<readonly Entry[]> {
  const list = expectGit(await gitWorktree(repository.root, "list", "--porcelain", "-z"), "listing worktrees");
  return list.out
    .split("\0\0")
    .map((entry) => entry.split("\0"))
    .filter((lines) => lines[0]?.startsWith("worktree ") === true)
    .map((lines) => {
      const after = (word: string): string | undefined =>
        lines.find((line) => line === word || line.startsWith(`${word} `))?.slice(word.length + 1);
      return {
        path: after("worktree") ?? "",
        head: after("HEAD"),
        branch: after("branch"),
        lock: after("locked"),
        isBare: lines.includes("bare"),
      };
    });
}
