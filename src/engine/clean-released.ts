import type { Agent } from "../domain/agent/agent.ts";
import type { EnginePorts } from "./ports.ts";
import { conserve, worktreeOf } from "./supervisor/conserve.ts";

/** Takes away the worktrees of released agents. What they held is kept first; the branch stays. */
export async function cleanReleased(ports: EnginePorts): Promise<void> {
  const released = await ports.store.read((tx) => tx.agents.toClean());
  for (const agent of released) await clean(ports, agent);
}

async function clean(ports: EnginePorts, agent: Agent): Promise<void> {
  const worktree = worktreeOf(agent);
  const stillUsed = worktree === undefined || (await hasSuccessorIn(ports, agent));
  if (worktree !== undefined && !stillUsed) {
    await conserve(ports, agent);
    ports.reach("release.after-snapshot");
    const removal = await ports.worktrees.remove(worktree, { deleteBranch: null });
    if (removal.problem !== null) await note(ports, agent, removal.problem);
    ports.reach("release.after-remove");
  }
  await ports.store.transaction((tx) => tx.agents.cleaned(agent.id, ports.clock.now()));
}

/** A later incarnation of the name works in the same directory. */
async function hasSuccessorIn(ports: EnginePorts, agent: Agent): Promise<boolean> {
  const newest = await ports.store.read((tx) => tx.agents.byName(agent.name));
  return newest !== undefined && newest.id !== agent.id && newest.worktreePath === agent.worktreePath;
}

async function note(ports: EnginePorts, agent: Agent, problem: string): Promise<void> {
  await ports.store.transaction((tx) =>
    tx.events.append([
      {
        runId: agent.runId,
        agentName: agent.name,
        agentId: agent.id,
        source: "engine",
        type: "worktree_kept",
        level: "warn",
        data: { path: agent.worktreePath, problem },
        createdAt: ports.clock.now(),
      },
    ]),
  );
}
