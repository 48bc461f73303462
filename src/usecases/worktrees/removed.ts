import { hasEnded } from "../../domain/agent/agent.ts";
import { ok } from "../../domain/result.ts";
import { release } from "../agents/release-agent.ts";
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

/**
 * The intent before the effect. A released agent is not reopened, so from here on nobody starts to work in its
 * worktree; `clear` is false when somebody already did.
 */
export const worktreeRemoving: UseCase<{ readonly agentId: string }, { readonly clear: boolean }> = {
  access: "write",
  operatorOnly: true,
  run: async (tx, context, { agentId }) => {
    const agent = await tx.agents.get(agentId);
    const newest = agent === undefined ? undefined : await tx.agents.byName(agent.name);
    if (agent === undefined || newest?.id !== agentId || !hasEnded(agent)) return ok({ clear: false });
    await release(tx, context, agent, "its worktree is being cleaned");
    return ok({ clear: true });
  },
};

/** The fact after the effect: what was kept where, and that the worktree is gone. Its agent is archived, not deleted. */
export const worktreeRemoved: UseCase<RemovedRequest, object> = {
  access: "write",
  operatorOnly: true,
  run: async (tx, context, request) => {
    const { now } = context;
    const { agentName, generation, agentId, kept, ...facts } = request;
    for (const { ref, commit, skipped } of kept) {
      const reason = "worktree cleaned";
      await tx.snapshots.add({ agentName, generation, ref, commitId: commit, reason, skipped, createdAt: now });
    }
    const agent = agentId === undefined ? undefined : await tx.agents.get(agentId);
    if (agent !== undefined && request.removed) await tx.agents.cleaned(agent.id, now);
    await tx.events.append([
      {
        ...(agent === undefined ? {} : { runId: agent.runId, agentId: agent.id }),
        agentName,
        source: "operator",
        type: request.removed ? "worktree_removed" : "worktree_kept",
        level: request.removed ? "info" : "warn",
        data: { ...facts, refs: kept.map(({ ref }) => ref), skipped: kept.flatMap(({ skipped }) => skipped) },
        createdAt: now,
      },
    ]);
    return ok({});
  },
};
