import type { Agent } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { SnapshotRecord } from "../../ports/store/snapshots.ts";
import { record } from "../../usecases/events/record.ts";
import { wordsAbout } from "../../usecases/merge/landing/taken-out.ts";
import type { EnginePorts } from "../ports.ts";
import { type Prune, turnOf } from "./prune.ts";

export type SnapshotPorts = Pick<EnginePorts, "store" | "clock" | "worktrees" | "report"> & {
  readonly settings: Pick<EnginePorts["settings"], "canonicalBranch">;
};

/**
 * Looking at one snapshot takes several git processes, and snapshots of work that never lands are looked at again and
 * again.
 */
const mostAtOnce = 20;

/**
 * Deletes a snapshot only when the branch it was meant for, or another ref that stays, has everything in it. A snapshot
 * of work that landed nowhere is kept for ever.
 */
export const pruneSnapshots: Prune<SnapshotPorts> = async (ports, { before, hour }) => {
  const old = await ports.store.read((tx) => tx.snapshots.leftBefore(before));
  const gone: SnapshotRecord[] = [];
  for (const snapshot of turnOf(old, mostAtOnce, hour)) {
    if (await maySpare(ports, snapshot)) gone.push(snapshot);
  }
  if (gone.length === 0) return { removed: 0, more: false };
  await ports.worktrees.deleteRefs(gone.map(({ ref, commitId }) => ({ ref, commit: commitId })));
  const refs = gone.map(({ ref }) => ref);
  const now = ports.clock.now();
  await ports.store.transaction(async (tx) => {
    await tx.snapshots.remove(refs);
    await record(tx, now, { source: "engine", type: "snapshots_pruned", data: { refs } });
  });
  return { removed: gone.length, more: false };
};

/**
 * Deletes ignored files of landed work, after its snapshots. Files that no snapshot could hold, and files of work that
 * landed nowhere, stay until the operator deletes them (`ov clean --trash`).
 */
export const pruneTrash: Prune<SnapshotPorts> = async (ports, { before, hour }) => {
  const old = (await ports.worktrees.oldTrash(before)).filter(({ holdsWork }) => !holdsWork);
  const gone: string[] = [];
  for (const { name, agentName } of turnOf(old, mostAtOnce, hour)) {
    if (await hasLanded(ports, agentName)) gone.push(name);
  }
  await ports.worktrees.emptyTrash(gone);
  return { removed: gone.length, more: false };
};

/** Is all work of the agent in the branch it was meant for? Read-only agents have no work. */
async function hasLanded(ports: SnapshotPorts, agentName: string): Promise<boolean> {
  const { agent, run, snapshots } = await ports.store.read(async (tx) => {
    const found = await tx.agents.byName(agentName);
    const of = found === undefined ? undefined : await tx.runs.get(found.runId);
    return { agent: found, run: of, snapshots: await tx.snapshots.of(agentName) };
  });
  if (agent === undefined || agent.cleanedAt === null || snapshots.length > 0) return false;
  if (isIn("readOnly", agent.capability)) return true;
  if (agent.headCommit === null || (agent.ahead === 0 && !agent.dirty)) return false;
  const targets = [run?.landingBranch, run?.targetBranch, ports.settings.canonicalBranch];
  for (const branch of new Set(targets.filter((name) => name != null))) {
    if (await isInBranch(ports, agent.headCommit, agent, branch)) return true;
  }
  return false;
}

async function maySpare(ports: SnapshotPorts, { ref, commitId, agentName }: SnapshotRecord): Promise<boolean> {
  const { worktrees, store, settings } = ports;
  // The ref was deleted by hand, or by a pass that was killed.
  if ((await worktrees.resolve(ref)) === undefined) return true;
  const found = await store.read(async (tx) => {
    const agent = await tx.agents.byName(agentName);
    return agent === undefined ? undefined : { agent, run: await tx.runs.get(agent.runId) };
  });
  if (found === undefined) return false;
  const { agent, run } = found;
  const kept = [run?.landingBranch, run?.targetBranch, settings.canonicalBranch, agent.branch];
  for (const branch of new Set(kept.filter((name) => name != null))) {
    if (await isInBranch(ports, commitId, agent, branch)) return true;
  }
  return false;
}

/** If git cannot compare, the snapshot stays. */
async function isInBranch(ports: SnapshotPorts, commit: string, agent: Agent, branch: string): Promise<boolean> {
  try {
    const words = await ports.store.read((tx) => wordsAbout(tx, agent.branch ?? ""));
    return await ports.worktrees.isLanded({ commit, base: agent.baseCommit, words }, `refs/heads/${branch}`);
  } catch (error) {
    ports.report(error);
    return false;
  }
}
