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
  const facts = await ports.worktrees.inspect(worktree);
  if (!facts.exists || !facts.dirty) return facts;
  const snapshot = await ports.worktrees.snapshot(worktree);
  if (snapshot === undefined) return facts;
  const { ref, commit, skipped } = snapshot;
  await ports.store.transaction((tx) =>
    tx.events.append([
      {
        runId: agent.runId,
        agentName: agent.name,
        agentId: agent.id,
        source: "supervisor",
        type: "snapshot",
        level: skipped.length > 0 ? "warn" : "info",
        data: { ref, commit, skipped },
        createdAt: ports.clock.now(),
      },
    ]),
  );
  return facts;
}
