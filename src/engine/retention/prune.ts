import type { Agent } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { environmentOf } from "../../domain/completion/check.ts";
import { isOpenMerge } from "../../domain/merge/entry.ts";
import type { OldRowKind } from "../../ports/store/old-rows.ts";
import type { SnapshotRecord } from "../../ports/store/snapshots.ts";
import type { Store, Tx } from "../../ports/store.ts";
import { record } from "../../usecases/events/record.ts";
import { isWanted } from "../../usecases/gates/environments.ts";
import { wordsAbout } from "../../usecases/merge/landing/taken-out.ts";
import { attentionItems } from "../../usecases/operator/attention.ts";
import { waitingForOperator } from "../../usecases/operator/inbox.ts";
import { backupRef, queueRef } from "../merge/ports.ts";
import type { EnginePorts } from "../ports.ts";

/** The time of a pass: everything from before `before` is old. */
export interface When {
  readonly before: number;
  /** Hours since the epoch. If there are too many things for one pass, each hour looks at others. */
  readonly hour: number;
}

export interface Pruned {
  readonly removed: number;
  /** Old things are left that this pass has not looked at; the next pass goes on there. */
  readonly more: boolean;
}

/** Deletes old things of one kind, as many as one pass may. Safe to repeat and to kill. */
export type Prune<Ports> = (ports: Ports, when: When) => Promise<Pruned>;

/** Limits the time for which one look holds the writers' lock, and the time of a pass. */
const mostAtOnce = 500;
const mostLooks = 20;

/** Deletes old rows of one table, oldest first, from where the last pass ended. Writes nothing when no row may go. */
export async function pruneRows({ store }: { readonly store: Store }, kind: OldRowKind, when: When): Promise<Pruned> {
  let removed = 0;
  for (let looks = 0; looks < mostLooks; looks++) {
    const { saved, free, last } = await store.read(async (tx) => {
      const after = await tx.oldRows.place(kind);
      return { saved: after, ...(await tx.oldRows.look(kind, { before: when.before, after, most: mostAtOnce })) };
    });
    if (free.length > 0 || saved !== null || last !== null) {
      removed += await store.transaction(async (tx) => {
        if (saved !== null || last !== null) await tx.oldRows.setPlace(kind, last);
        return tx.oldRows.remove(kind, free, when.before);
      });
    }
    if (last === null) return { removed, more: false };
  }
  return { removed, more: true };
}

type EventPorts = { readonly store: Store; readonly settings: { readonly mostEvents: number } };

/** Deletes old events, and the oldest of those that are more than may be kept. */
export const pruneEvents: Prune<EventPorts> = async ({ store, settings: { mostEvents } }, when) => {
  const surplus = mostEvents === 0 ? undefined : await store.read((tx) => tx.events.newestBut(mostEvents));
  const before = Math.max(when.before, surplus ?? Number.NEGATIVE_INFINITY);
  return Number.isFinite(before) ? pruneRows({ store }, "events", { ...when, before }) : { removed: 0, more: false };
};

/** Deletes mail of ended runs that every recipient has read and that no agent waits for. Unread mail stays. */
export const pruneMail: Prune<Pick<EnginePorts, "store" | "clock">> = async ({ store, clock }, { before }) => {
  let removed = 0;
  for (let look = 0; look < mostLooks; look++) {
    const { purged, last } = await store.transaction(async (tx) => {
      const saved = await tx.oldRows.place("mail");
      const part = await tx.messages.purgeSettled(before, { after: saved?.at ?? 0, most: mostAtOnce });
      const next = part.last === null ? null : { at: part.last, id: "" };
      if (saved !== null || next !== null) await tx.oldRows.setPlace("mail", next);
      if (part.purged === 0) return part;
      const data = { before, purged: part.purged };
      await record(tx, clock.now(), { source: "engine", type: "mail_purged", data });
      return part;
    });
    removed += purged;
    if (last === null) return { removed, more: false };
  }
  return { removed, more: true };
};

/** Forgets that the operator was told of things that wait no more. */
export const pruneNotifications: Prune<Pick<EnginePorts, "store">> = async ({ store }, { before }) => {
  const old = await store.read((tx) => tx.notifications.settledBefore(before, mostAtOnce));
  if (old.length === 0) return { removed: 0, more: false };
  const removed = await store.transaction(async (tx) => {
    const waiting = new Set(attentionItems(await waitingForOperator(tx)).map(({ id }) => id));
    return tx.notifications.remove(old.filter((item) => !waiting.has(item)));
  });
  return { removed, more: removed === mostAtOnce };
};

/** Returns at most so many things, others each hour, so that things which must stay do not hide the rest. */
export function turnOf<Row>(all: readonly Row[], most: number, hour: number): readonly Row[] {
  if (all.length <= most) return all;
  const start = (hour * most) % all.length;
  return [...all.slice(start), ...all.slice(0, start)].slice(0, most);
}

type FilePorts = Pick<EnginePorts, "store" | "oldFiles">;

const gone = (removed: number): Pruned => ({ removed, more: false });

/** Deletes the input and output files of turns of agents that are released. */
export const pruneTurnLogs: Prune<FilePorts> = async ({ store, oldFiles }, { before, hour }) => {
  const old = await oldFiles.turnLogsBefore(before, hour);
  const unused = await store.read(async (tx) => {
    const found: string[] = [];
    for (const { path, turnId } of old) if (await isSpare(tx, turnId, before)) found.push(path);
    return found;
  });
  await oldFiles.removeTurnLogs(unused);
  return gone(unused.length);
};

/** The newest incarnation of a name decides for the earlier ones. */
async function isSpare(tx: Tx, turnId: string, before: number): Promise<boolean> {
  const turn = await tx.turns.get(turnId);
  if (turn === undefined) return true;
  if (turn.endedAt === null || turn.endedAt >= before) return false;
  return (await tx.agents.byName(turn.agentName))?.releasedAt != null;
}

/** Deletes the output of gates that ran long ago, except for checks that are still running. */
export const pruneMergeLogs: Prune<FilePorts> = async ({ store, oldFiles }, { before, hour }) => {
  const old = await oldFiles.logsBefore(before, hour);
  if (old.length === 0) return gone(0);
  const inWork = await store.read(async (tx) => {
    const open = [
      ...(await tx.mergeAttempts.unfinished()),
      ...(await tx.checks.queued()),
      ...(await tx.checks.running()),
    ];
    return new Set(open.map(({ id }) => id));
  });
  const unused = old.filter((id) => !inWork.has(id));
  await oldFiles.removeLogs(unused);
  return gone(unused.length);
};

/** Deletes old texts of specifications that newer texts have replaced. */
export const pruneSpecs: Prune<FilePorts> = async ({ store, oldFiles }, { before, hour }) => {
  const old = await oldFiles.specsBefore(before, hour);
  if (old.length === 0) return gone(0);
  const inUse = await store.read((tx) => tx.specs.inUse(old));
  const unused = old.filter((digest) => !inUse.has(digest));
  await oldFiles.removeSpecs(unused, before);
  return gone(unused.length);
};

/** Deletes captured variables when their agents and checks no longer need them; see `forgetVariables`. */
export const pruneEnvironments: Prune<FilePorts & Pick<EnginePorts, "forgetEnvironment">> = async (ports, when) => {
  const old = await ports.oldFiles.environmentsBefore(when.before, when.hour);
  if (old.length === 0) return gone(0);
  const unused = await ports.store.read(async (tx) => {
    const checks = [...(await tx.checks.queued()), ...(await tx.checks.running())];
    const asked = new Set(checks.map((check) => environmentOf(check)));
    const found: string[] = [];
    for (const file of old) {
      if (!asked.has(file) && !(await isWanted(tx, file, nobodysName))) found.push(file);
    }
    return found;
  });
  for (const file of unused) ports.forgetEnvironment(file);
  return gone(unused.length);
};

/** A name that no agent can have, so that the question covers every agent. */
const nobodysName = "";

/** Deletes long mail bodies that belong to no stored message. */
export const pruneBlobs: Prune<FilePorts> = async ({ store, oldFiles }, { before, hour }) => {
  const old = await oldFiles.blobsBefore(before, hour);
  if (old.length === 0) return gone(0);
  const inUse = await store.read((tx) => tx.messages.blobsInUse(old));
  const unused = old.filter((name) => !inUse.has(name));
  await oldFiles.removeBlobs(unused, before);
  return gone(unused.length);
};

/**
 * To find out which refs hold a commit takes git through the whole history, and a commit that no ref holds is asked
 * about again.
 */
const mostAsked = 20;

interface Pinned {
  readonly ref: string;
  readonly commit: string;
}

type RefPorts = Pick<EnginePorts, "store" | "merging" | "worktrees" | "clock">;

/**
 * Deletes refs that old merges left: the tip before each move, the head of each branch that is part of its landing
 * branch now, and the head of one that did not land or was taken back, if a branch, tag or other ref holds it too. A
 * commit that no other ref holds stays for ever.
 */
export const pruneMergeRefs: Prune<RefPorts> = async (ports, { before, hour }) => {
  const { store, merging, worktrees, clock } = ports;
  const refs = await merging.refsBelow("refs/overstory/");
  const { spared, unlanded } = await store.read(async (tx) => {
    const found: Record<"spared" | "unlanded", Pinned[]> = { spared: [], unlanded: [] };
    for (const pinned of refs) {
      const kind = await kindOf(tx, pinned.ref, before);
      if (kind !== undefined) found[kind].push(pinned);
    }
    return found;
  });
  const gone = [...spared, ...(await heldElsewhere(ports, turnOf(unlanded, mostAsked, hour)))];
  if (gone.length === 0) return { removed: 0, more: false };
  await worktrees.deleteRefs(gone);
  const data = { refs: gone.map(({ ref }) => ref) };
  await store.transaction((tx) => record(tx, clock.now(), { source: "engine", type: "merge_refs_pruned", data }));
  return { removed: gone.length, more: false };
};

async function kindOf(tx: Tx, ref: string, before: number): Promise<"spared" | "unlanded" | undefined> {
  const name = ref.slice(ref.lastIndexOf("/") + 1);
  if (ref === backupRef(name)) {
    const op = await tx.mergeOps.get(name);
    return op !== undefined && op.status !== "intended" && op.updatedAt < before ? "spared" : undefined;
  }
  const entry = ref === queueRef(Number(name)) ? await tx.merges.get(Number(name)) : undefined;
  if (entry === undefined || isOpenMerge(entry) || entry.updatedAt >= before) return undefined;
  return entry.status === "merged" ? "spared" : "unlanded";
}

async function heldElsewhere({ merging }: RefPorts, pinned: readonly Pinned[]): Promise<readonly Pinned[]> {
  const held: Pinned[] = [];
  for (const one of pinned) {
    const holders = await merging.refsWith(one.commit);
    // Ours are let go of some day, too.
    if (holders.some((ref) => !ref.startsWith("refs/overstory/"))) held.push(one);
  }
  return held;
}

export type SnapshotPorts = Pick<EnginePorts, "store" | "clock" | "worktrees" | "report"> & {
  readonly settings: Pick<EnginePorts["settings"], "canonicalBranch">;
};

/**
 * Looking at one snapshot takes several git processes, and snapshots of work that never lands are looked at again and
 * again.
 */
const mostSnapshotsAtOnce = 20;

/**
 * Deletes a snapshot only when the branch it was meant for, or another ref that stays, has everything in it. A snapshot
 * of work that landed nowhere is kept for ever.
 */
export const pruneSnapshots: Prune<SnapshotPorts> = async (ports, { before, hour }) => {
  const old = await ports.store.read((tx) => tx.snapshots.leftBefore(before));
  const gone: SnapshotRecord[] = [];
  for (const snapshot of turnOf(old, mostSnapshotsAtOnce, hour)) {
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
  for (const { name, agentName } of turnOf(old, mostSnapshotsAtOnce, hour)) {
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
