import type { Agent } from "../../domain/agent/agent.ts";
import type { OwnedWorktree } from "../../ports/worktrees.ts";

/** The worktree of an agent; undefined for one that has none, or works in the project's own checkout. */
export function worktreeOf(agent: Agent): OwnedWorktree | undefined {
  if (agent.worktreePath === null || agent.branch === null || agent.worktreeKind === "root") return undefined;
  const { name: agentName, generation, worktreePath: path, branch, worktreeKind: kind, baseCommit, baseRef } = agent;
  return { agentName, generation, path, identity: agent.worktreeIdentity, branch, kind, baseCommit, baseRef };
}
