import { type Agent, hasEnded } from "../domain/agent/agent.ts";
import type { Processes } from "../ports/process.ts";
import type { OwnedWorktree } from "../ports/worktrees.ts";
import { isInQueue, release } from "../usecases/agents/release-agent.ts";
import type { EnginePorts } from "./ports.ts";
import { conserve, worktreeOf } from "./supervisor/conserve.ts";

export interface CleaningPorts
  extends Pick<EnginePorts, "store" | "clock" | "worktrees" | "reach" | "forgetEnvironment"> {
  readonly processes: Pick<Processes, "endStartedFor">;
}

const longestHoldMs = 24 * 60 * 60_000;
const graceMs = 2_000;

/** Lets go of work that nobody came back to for a day. What is in the merge queue is not forgotten. True when it let somebody go. */
export async function releaseForgotten(ports: Pick<EnginePorts, "store" | "clock" | "ids">): Promise<boolean> {
  const now = ports.clock.now();
  const forgotten = await ports.store.read((tx) => tx.agents.submittedBefore(now - longestHoldMs));
  let any = false;
  for (const agent of forgotten) {
    const released = await ports.store.transaction(async (tx) =>
      (await isInQueue(tx, agent))
        ? []
        : release(tx, { now, ids: ports.ids }, agent, "nobody came back to it for a day"),
    );
    if (released.length > 0) any = true;
  }
  return any;
}

/** Takes away the worktrees of released agents. What they held is kept first; the branch stays. */
export async function cleanReleased(ports: CleaningPorts): Promise<void> {
  const released = await ports.store.read((tx) => tx.agents.toClean());
  for (const agent of released) await cleanUp(ports, agent);
}

/**
 * Takes away what a released agent left; its place is free then, unless what it held could not be kept. Whoever needs
 * the place and whoever tidies up may come at the same time.
 */
export function cleanUp(ports: CleaningPorts, { id }: Pick<Agent, "id">): Promise<void> {
  const going = underWay.get(id);
  if (going !== undefined) return going;
  const cleaning = clean(ports, id).finally(() => underWay.delete(id));
  underWay.set(id, cleaning);
  return cleaning;
}

const underWay = new Map<string, Promise<void>>();

/** Resolves when nobody is taking away what this agent left. */
export const cleaningOf = async ({ id }: Pick<Agent, "id">): Promise<void> => underWay.get(id);

async function clean(ports: CleaningPorts, id: string): Promise<void> {
  const agent = await ports.store.read((tx) => tx.agents.get(id));
  if (agent === undefined || agent.cleanedAt !== null) return;
  // A server that a turn left running must not write after the last look, nor go on where nothing is any more.
  await ports.processes.endStartedFor(agent.id, graceMs);
  const worktree = worktreeOf(agent);
  const stillUsed = worktree === undefined || (await hasSuccessorIn(ports, agent));
  if (worktree !== undefined && !stillUsed) {
    const kept = await conserve(ports, agent);
    ports.reach("release.after-snapshot");
    const problem = kept === undefined ? "what is in it could not be kept" : await takeAway(ports, worktree);
    if (problem !== null) await note(ports, agent, problem);
    ports.reach("release.after-remove");
  }
  await forgetVariables(ports, agent);
  await ports.store.transaction((tx) => tx.agents.cleaned(agent.id, ports.clock.now()));
}

async function takeAway(ports: CleaningPorts, worktree: OwnedWorktree): Promise<string | null> {
  return (await ports.worktrees.remove(worktree, { deleteBranch: null })).problem;
}

/** What was captured from a person's shell goes with the last agent that was given it. */
async function forgetVariables(ports: CleaningPorts, { id, name, envFile }: Agent): Promise<void> {
  if (envFile === null) return;
  const used = await ports.store.read(async (tx) => {
    const newest = await tx.agents.byName(name);
    const handedDown = newest?.id !== id && newest?.envFile === envFile && newest.cleanedAt === null;
    return handedDown || (await tx.agents.usesEnvironment(envFile, name));
  });
  if (!used) ports.forgetEnvironment(envFile);
}

/** A later incarnation of the name works in the same directory, or is about to be seated in it. */
async function hasSuccessorIn(ports: CleaningPorts, agent: Agent): Promise<boolean> {
  const newest = await ports.store.read((tx) => tx.agents.byName(agent.name));
  if (newest === undefined || newest.id === agent.id) return false;
  const isComing = newest.worktreePath === null && !hasEnded(newest) && newest.branch === agent.branch;
  return isComing || newest.worktreePath === agent.worktreePath;
}

async function note(ports: CleaningPorts, agent: Agent, problem: string): Promise<void> {
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
