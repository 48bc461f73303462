import type { Agent } from "../../domain/agent/agent.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import type { OwnedWorktree, WorktreeFacts, Worktrees } from "../../ports/worktrees.ts";

interface ConservePorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly worktrees: Worktrees;
}

export function worktreeOf(agent: Agent): OwnedWorktree | undefined {
  if (agent.worktreePath === null || agent.branch === null || agent.worktreeKind === "root") return undefined;
  const { name: agentName, generation, worktreePath: path, branch, worktreeKind: kind, baseCommit } = agent;
  return { agentName, generation, path, branch, kind, baseCommit };
}

/** Looks at an agent's worktree and keeps what is in it but in no commit. Undefined for agents without one. */
export async function conserve(ports: ConservePorts, agent: Agent): Promise<WorktreeFacts | undefined> {
  const worktree = worktreeOf(agent);
  if (worktree === undefined) return undefined;
  await ports.worktrees.collect(worktree);
  const facts = await ports.worktrees.inspect(worktree);
  // A linked worktree's commits are held by its branch; a clone's only by what we fetched.
  if (!facts.exists || (!facts.dirty && worktree.kind === "linked")) return facts;
  const snapshot = await ports.worktrees.snapshot(worktree);
  if (snapshot === undefined) return facts;
  const { ref, commit, skipped } = snapshot;
  const createdAt = ports.clock.now();
  await ports.store.transaction(async (tx) => {
    const { agentName, generation } = worktree;
    await tx.snapshots.add({ agentName, generation, ref, commitId: commit, reason: "turn", skipped, createdAt });
    await tx.events.append([
      {
        runId: agent.runId,
        agentName: agent.name,
        agentId: agent.id,
        source: "supervisor",
        type: "snapshot",
        level: skipped.length > 0 ? "warn" : "info",
        data: { ref, commit, skipped },
        createdAt,
      },
    ]);
  });
  return facts;
}
