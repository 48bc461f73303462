import { type Agent, hasEnded } from "../domain/agent/agent.ts";
import type { Processes } from "../ports/process.ts";
import { everyAgent } from "../ports/store/snapshots.ts";
import type { Tx } from "../ports/store.ts";
import type { OwnedWorktree } from "../ports/worktrees.ts";
import { isInQueue, release } from "../usecases/agents/release-agent.ts";
import { record } from "../usecases/events/record.ts";
import { isWanted } from "../usecases/gates/environments.ts";
import { worktreeOf } from "../usecases/worktrees/owners.ts";
import type { EnginePorts } from "./ports.ts";
import { conserve } from "./supervisor/conserve.ts";

export interface CleaningPorts
  extends Pick<EnginePorts, "store" | "clock" | "worktrees" | "reach" | "forgetEnvironment"> {
  readonly processes: Pick<Processes, "endStartedFor" | "self" | "check">;
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
  // Whoever removes it says so when it is done; if that process dies, the next look finds the agent still to be cleaned.
  if (worktree !== undefined && (await isRemovedByOther(ports, agent.name))) return;
  if (worktree !== undefined && (await claim(ports, agent))) {
    const kept = await conserve(ports, agent, "pause");
    ports.reach("release.after-snapshot");
    const problem = kept === undefined ? "what is in it could not be kept" : await takeAway(ports, worktree);
    if (problem !== null) await note(ports, agent, problem);
    ports.reach("release.after-remove");
  }
  await forgetVariables(ports, agent);
  await ports.store.transaction(async (tx) => {
    await tx.agents.cleaned(agent.id, ports.clock.now());
    await tx.removals.end(agent.name, ports.processes.self());
  });
}

/** Does another process take away what stands under this name? One that is gone does not count, and is forgotten. */
export async function isRemovedByOther({ store, processes }: CleaningPorts, name: string): Promise<boolean> {
  const found = await store.read(async (tx) => [await tx.removals.of(name), await tx.removals.of(everyAgent)]);
  const { pid } = processes.self();
  const others = found.filter((removal) => removal !== undefined).filter((removal) => removal.pid !== pid);
  if (others.some((removal) => processes.check(removal) !== "gone")) return true;
  if (others.length === 0) return false;
  await store.transaction(async (tx) => {
    for (const removal of others) await tx.removals.end(removal.agentName, removal);
  });
  return false;
}

/** The intent: from here on nobody of this name is seated there before we have ended. False when somebody is already. */
async function claim(ports: CleaningPorts, agent: Agent): Promise<boolean> {
  const createdAt = ports.clock.now();
  return ports.store.transaction(async (tx) => {
    if (await hasSuccessorIn(tx, agent)) return false;
    await tx.removals.begin({ agentName: agent.name, ...ports.processes.self(), createdAt });
    return true;
  });
}

async function takeAway(ports: CleaningPorts, worktree: OwnedWorktree): Promise<string | null> {
  return (await ports.worktrees.remove(worktree, { deleteBranch: null })).problem;
}

/** Deletes the variables captured from the user's shell with the last agent that has them, or later: see `isWanted`. */
async function forgetVariables(ports: CleaningPorts, { id, name, envFile }: Agent): Promise<void> {
  if (envFile === null) return;
  const used = await ports.store.read(async (tx) => {
    const newest = await tx.agents.byName(name);
    const handedDown = newest?.id !== id && newest?.envFile === envFile && newest.cleanedAt === null;
    return handedDown || (await isWanted(tx, envFile, name));
  });
  if (!used) ports.forgetEnvironment(envFile);
}

/** A later incarnation of the name works in the same directory, or is about to be seated in it. */
async function hasSuccessorIn(tx: Tx, agent: Agent): Promise<boolean> {
  const newest = await tx.agents.byName(agent.name);
  if (newest === undefined || newest.id === agent.id) return false;
  const isComing = newest.worktreePath === null && !hasEnded(newest) && newest.branch === agent.branch;
  return isComing || newest.worktreePath === agent.worktreePath;
}

async function note(ports: CleaningPorts, agent: Agent, problem: string): Promise<void> {
  await ports.store.transaction((tx) =>
    record(tx, ports.clock.now(), {
      source: "engine",
      agent,
      type: "worktree_kept",
      level: "warn",
      data: { path: agent.worktreePath, problem },
    }),
  );
}
