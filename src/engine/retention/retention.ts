import type { Agent } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import type { SnapshotRecord } from "../../ports/store/snapshots.ts";
import type { EnginePorts } from "../ports.ts";
import { type EvidenceSeen, pruneEvidence } from "./evidence.ts";
import { pruneBlobs, pruneEnvironments, pruneMergeLogs, pruneReplies, pruneSpecs } from "./files.ts";
import { pruneMail } from "./mail.ts";
import { pruneMergeRefs } from "./merge-refs.ts";

const dayMs = 24 * 60 * 60_000;
const paceMs = 60 * 60_000;

/** Nobody's setting: whoever repeats a remote call gives up after half a minute. */
const replyDays = 1;

/** Looking at one costs several git processes, and what never lands is looked at again and again. */
const mostAtOnce = 20;

/**
 * Lets go of what was kept for the case that somebody misses it. A snapshot goes only when everything in it is also in
 * the branch it was meant for, or under another ref that stays: work that landed nowhere is kept for ever. Looks when an
 * engine starts and once an hour from then; no engine stays for it.
 */
export class Retention {
  #lookedAt: number | undefined;
  #mailSeen = 0;
  #evidenceSeen: EvidenceSeen = {};

  /** Ends early, between two kinds, when the engine is to stop; the next one begins again. */
  async prune(ports: EnginePorts, stop: AbortSignal): Promise<void> {
    const awake = ports.clock.monotonic();
    if (this.#lookedAt !== undefined && awake - this.#lookedAt < paceMs) return;
    this.#lookedAt = awake;
    const { snapshotDays, mailDays, mergeRefDays } = ports.settings.retention;
    const turn = Math.floor(ports.clock.now() / paceMs);
    const kinds: readonly (readonly [number, (before: number) => Promise<void>])[] = [
      [snapshotDays, (before) => pruneSnapshots(ports, before)],
      [snapshotDays, (before) => pruneTrash(ports, before)],
      [snapshotDays, (before) => pruneSpecs(ports, before, turn)],
      [mailDays, (before) => this.#pruneMail(ports, before)],
      [mergeRefDays, (before) => pruneMergeRefs(ports, before)],
      [mergeRefDays, (before) => pruneMergeLogs(ports, before, turn)],
      [mergeRefDays, (before) => this.#pruneEvidence(ports, before)],
      [replyDays, (before) => pruneReplies(ports, before)],
      [replyDays, (before) => pruneEnvironments(ports, before, turn)],
      [replyDays, (before) => pruneBlobs(ports, before, turn)],
      [replyDays, async () => ports.worktrees.sweep(ports.clock.now())],
    ];
    for (const [days, prune] of kinds) if (!stop.aborted) await pruneOlder(ports, days, prune);
  }

  async #pruneMail(ports: EnginePorts, before: number): Promise<void> {
    this.#mailSeen = await pruneMail(ports, before, this.#mailSeen);
  }

  async #pruneEvidence(ports: EnginePorts, before: number): Promise<void> {
    this.#evidenceSeen = await pruneEvidence(ports, before, this.#evidenceSeen);
  }
}

/** What is kept for ever has 0 days. One kind that cannot be pruned must not keep the others from it. */
async function pruneOlder(ports: EnginePorts, days: number, prune: (before: number) => Promise<void>): Promise<void> {
  if (days === 0) return;
  try {
    await prune(ports.clock.now() - days * dayMs);
  } catch (error) {
    ports.report(error);
  }
}

async function pruneSnapshots(ports: EnginePorts, before: number): Promise<void> {
  const old = await ports.store.read((tx) => tx.snapshots.leftBefore(before));
  const gone: SnapshotRecord[] = [];
  for (const snapshot of turnOf(old, ports.clock.now())) {
    if (await maySpare(ports, snapshot)) gone.push(snapshot);
  }
  if (gone.length === 0) return;
  await ports.worktrees.deleteRefs(gone.map(({ ref, commitId }) => ({ ref, commit: commitId })));
  const refs = gone.map(({ ref }) => ref);
  const createdAt = ports.clock.now();
  await ports.store.transaction(async (tx) => {
    await tx.snapshots.remove(refs);
    await tx.events.append([{ source: "engine", type: "snapshots_pruned", data: { refs }, createdAt }]);
  });
}

/**
 * Lets go of ignored files of work that landed, after its snapshots. Files that no snapshot could hold, and those of
 * work that landed nowhere, stay until a person deletes them (`ov clean --trash`).
 */
async function pruneTrash(ports: EnginePorts, before: number): Promise<void> {
  const old = (await ports.worktrees.oldTrash(before)).filter(({ holdsWork }) => !holdsWork);
  const gone: string[] = [];
  for (const { name, agentName } of turnOf(old, ports.clock.now())) {
    if (await hasLanded(ports, agentName)) gone.push(name);
  }
  await ports.worktrees.emptyTrash(gone);
}

/** All work of the name is in a branch it was meant for. Agents that may only read have none. */
async function hasLanded(ports: EnginePorts, agentName: string): Promise<boolean> {
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

/** Every hour another part of them, so that those which stay do not hide the others. */
function turnOf<Row>(old: readonly Row[], now: number): readonly Row[] {
  if (old.length <= mostAtOnce) return old;
  const start = (Math.floor(now / paceMs) * mostAtOnce) % old.length;
  return [...old, ...old].slice(start, start + mostAtOnce);
}

async function maySpare(ports: EnginePorts, { ref, commitId, agentName }: SnapshotRecord): Promise<boolean> {
  const { worktrees, store, settings } = ports;
  // Somebody deleted it by hand, or a pruning that was cut short did.
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

/** A comparison that fails says nothing, so the snapshot stays. */
async function isInBranch(ports: EnginePorts, commit: string, agent: Agent, branch: string): Promise<boolean> {
  try {
    return await ports.worktrees.isLanded(commit, agent.baseCommit, `refs/heads/${branch}`);
  } catch (error) {
    ports.report(error);
    return false;
  }
}
