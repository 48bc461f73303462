import type { OwnedWorktree } from "../../ports/worktrees.ts";
import { inspectWorktree } from "./inspect.ts";
import { openRepository } from "./repository.ts";
import { saveWork } from "./snapshot.ts";
import { makeYard, type WorktreeOptions } from "./yard.ts";

export interface AgentWork {
  readonly commit: string;
  readonly uncommitted: boolean;
  readonly skipped: readonly string[];
}

/**
 * All work in a worktree as one commit under no ref, to look at: git forgets it by itself. Undefined when the worktree
 * is gone or holds nothing.
 */
export async function saveAgentWork(
  root: string,
  worktree: OwnedWorktree,
  options: WorktreeOptions,
): Promise<AgentWork | undefined> {
  const yard = makeYard(await openRepository(root)(), options);
  const saved = await saveWork(yard, worktree, "git");
  return saved === undefined ? undefined : { ...saved, uncommitted: (await inspectWorktree(yard, worktree)).dirty };
}
