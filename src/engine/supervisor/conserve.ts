import type { Agent } from "../../domain/agent/agent.ts";
import type { NewEvent } from "../../domain/event/event.ts";
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

/**
 * Looks at an agent's worktree and keeps what is in it but under no ref. Undefined for agents without one, and for a
 * worktree that git cannot read: that is put on record and must not keep the turn from being settled.
 */
export async function conserve(ports: ConservePorts, agent: Agent): Promise<WorktreeFacts | undefined> {
  const worktree = worktreeOf(agent);
  if (worktree === undefined) return undefined;
  try {
    return await keep(ports, agent, worktree);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    await record(ports, agent, { type: "snapshot_failed", level: "error", data: { path: worktree.path, problem } });
    return undefined;
  }
}

async function keep(ports: ConservePorts, agent: Agent, worktree: OwnedWorktree): Promise<WorktreeFacts> {
  await ports.worktrees.collect(worktree);
  const facts = await ports.worktrees.inspect(worktree);
  // A linked worktree's commits are held by its branch, while it is on it; a clone's only by what we fetched.
  const held = !facts.dirty && facts.onBranch && worktree.kind === "linked";
  if (!facts.exists || held) return facts;
  const snapshot = await ports.worktrees.snapshot(worktree);
  if (snapshot === undefined) return facts;
  const { ref, commit, skipped } = snapshot;
  const { agentName, generation } = worktree;
  const createdAt = ports.clock.now();
  await ports.store.transaction((tx) =>
    tx.snapshots.add({ agentName, generation, ref, commitId: commit, reason: "turn", skipped, createdAt }),
  );
  const level = skipped.length > 0 ? "warn" : "info";
  await record(ports, agent, { type: "snapshot", level, data: { ref, commit, skipped } });
  return facts;
}

async function record(
  ports: ConservePorts,
  agent: Agent,
  event: Pick<NewEvent, "type" | "level" | "data">,
): Promise<void> {
  const about = { runId: agent.runId, agentName: agent.name, agentId: agent.id };
  const createdAt = ports.clock.now();
  await ports.store.transaction((tx) => tx.events.append([{ ...about, source: "supervisor", createdAt, ...event }]));
}
