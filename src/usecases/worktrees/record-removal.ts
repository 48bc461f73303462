import { hasEnded } from "../../domain/agent/agent.ts";
import type { ProcessIdentity } from "../../domain/process/process.ts";
import { ok } from "../../domain/result.ts";
import { fields, flag, list, orNull, text, whole } from "../../domain/schema/schema.ts";
import { everyAgent, type RemovalRecord } from "../../ports/store/snapshots.ts";
import type { Tx } from "../../ports/store.ts";
import { release } from "../agents/release-agent.ts";
import { record } from "../events/record.ts";
import { isWanted } from "../gates/environments.ts";
import type { UseCase } from "../usecase.ts";

export interface KeptWork {
  readonly ref: string;
  readonly commit: string;
  readonly skipped: readonly string[];
}

export interface RemovedRequest {
  readonly agentName: string;
  readonly generation: number;
  /** Undefined for a worktree that no agent on record owns. */
  readonly agentId?: string | undefined;
  readonly path: string;
  readonly branch: string;
  readonly branchDeleted: boolean;
  /** False when the removal failed after work had been kept. */
  readonly removed: boolean;
  readonly kept: readonly KeptWork[];
  readonly trash: string | null;
}

export interface RemovingRequest {
  /**
   * Every name under which an agent could be seated at the place, with its newest incarnation when the caller looked;
   * null: no agent of that name was on record. `everyAgent` stands for all names.
   */
  readonly names: readonly { readonly name: string; readonly agentId: string | null }[];
  /** The agent that owns the place; it is released. */
  readonly agentId?: string | undefined;
  /** The process that is about to remove. */
  readonly process: ProcessIdentity;
  /** A removal that was on record, whose process is known to be gone. */
  readonly replaces?: RemovalRecord | undefined;
}

const processFields = { pid: whole, startToken: text, bootId: text } as const;

/** `clear` is false when an agent works there, or is about to; `removal`: another process removes it already. */
export interface RemovingReply {
  readonly clear: boolean;
  readonly why: string | null;
  readonly removal: RemovalRecord | null;
}

/**
 * The intent before the removal. An agent that was reserved earlier keeps the place, seated or not. An agent that is
 * reserved later is seated only when the removal has ended. A released agent is not reopened.
 */
export const worktreeRemoving: UseCase<RemovingRequest, RemovingReply> = {
  kind: "write",
  request: fields(
    { names: list(fields({ name: text, agentId: orNull(text) })), process: fields(processFields) },
    { agentId: text, replaces: fields({ ...processFields, agentName: text, createdAt: whole }) },
  ),
  operatorOnly: true,
  run: async (tx, context, { names, agentId, process, replaces }) => {
    const refused = (why: string, removal: RemovalRecord | null = null) => ok({ clear: false, why, removal });
    for (const { name, agentId: seen } of names) {
      const holder = await holderOf(tx, name, seen);
      if (holder !== undefined) return refused(holder);
      const removal = (await tx.removals.of(name)) ?? (await tx.removals.of(everyAgent));
      const isOthers = removal !== undefined && !isSame(removal, process);
      if (isOthers && (replaces === undefined || !isSame(removal, replaces))) {
        return refused("another command is cleaning at the moment", removal);
      }
      if (isOthers) await tx.removals.end(removal.agentName, removal);
    }
    const agent = agentId === undefined ? undefined : await tx.agents.get(agentId);
    if (agent !== undefined) await release(tx, context, agent, "its worktree is being cleaned");
    for (const { name } of names) await tx.removals.begin({ agentName: name, ...process, createdAt: context.now });
    return ok({ clear: true, why: null, removal: null });
  },
};

/** Why the place is not free, in words. */
async function holderOf(tx: Tx, name: string, seen: string | null): Promise<string | undefined> {
  if (name === everyAgent) {
    const live = await tx.agents.list({ live: true });
    return live.length === 0 ? undefined : `${live.map((agent) => agent.name).join(", ")} came to life`;
  }
  const newest = await tx.agents.byName(name);
  if (newest !== undefined && !hasEnded(newest)) return `${name} is live again`;
  return (newest?.id ?? null) === seen ? undefined : `${name} has worked again meanwhile`;
}

const isSame = (a: ProcessIdentity, b: ProcessIdentity): boolean =>
  a.pid === b.pid && a.startToken === b.startToken && a.bootId === b.bootId;

/** Ends the removal, successful or not: an agent that waits for the place may have it. */
export const removalEnded: UseCase<Pick<RemovingRequest, "process"> & { readonly names: readonly string[] }, object> = {
  kind: "write",
  request: fields({ names: list(text), process: fields(processFields) }),
  operatorOnly: true,
  run: async (tx, _context, { names, process }) => {
    for (const name of names) await tx.removals.end(name, process);
    return ok({});
  },
};

/**
 * The fact after the removal: where the work was kept, and that the worktree is gone. Its agent is archived, not
 * deleted.
 */
export const worktreeRemoved: UseCase<RemovedRequest, { readonly forgotten: string | null }> = {
  kind: "write",
  request: fields(
    {
      agentName: text,
      generation: whole,
      path: text,
      branch: text,
      branchDeleted: flag,
      removed: flag,
      kept: list(fields({ ref: text, commit: text, skipped: list(text) })),
      trash: orNull(text),
    },
    { agentId: text },
  ),
  operatorOnly: true,
  // What a process that died before this left is found by the engine's retention.
  finish: async (files, reply) => {
    if (reply.forgotten !== null) await files.removeEnvironment(reply.forgotten);
    return ok(reply);
  },
  run: async (tx, context, request) => {
    const { now } = context;
    const { agentName, generation, agentId, kept, ...facts } = request;
    for (const { ref, commit, skipped } of kept) {
      const reason = "worktree cleaned";
      await tx.snapshots.add({ agentName, generation, ref, commitId: commit, reason, skipped, createdAt: now });
    }
    const agent = agentId === undefined ? undefined : await tx.agents.get(agentId);
    if (agent !== undefined && request.removed) await tx.agents.cleaned(agent.id, now);
    await record(tx, now, {
      source: "operator",
      agent,
      agentName,
      type: request.removed ? "worktree_removed" : "worktree_kept",
      level: request.removed ? "info" : "warn",
      data: { ...facts, refs: kept.map(({ ref }) => ref), skipped: kept.flatMap(({ skipped }) => skipped) },
    });
    const wasGiven = request.removed ? (agent?.envFile ?? null) : null;
    const isUsed = wasGiven !== null && (await isWanted(tx, wasGiven, agentName));
    return ok({ forgotten: isUsed ? null : wasGiven });
  },
};
