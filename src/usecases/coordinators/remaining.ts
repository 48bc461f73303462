import { hasEnded } from "../../domain/agent/agent.ts";
import { isIn } from "../../domain/agent/capability.ts";
import { openMergeStatuses } from "../../domain/merge/entry.ts";
import { ok } from "../../domain/result.ts";
import type { Stream } from "../operation.ts";
import { newestPerName } from "../status/newest-per-name.ts";
import type { UseCase } from "../usecase.ts";

export interface Remaining {
  /** Agents of the run that still work. */
  readonly agents: readonly string[];
  /** Branches that will land or come back by themselves. */
  readonly branches: readonly string[];
  /** Branches that wait for a person's word; nobody can wait for them. */
  readonly approvals: readonly string[];
}

/** What of a run goes on by itself. */
export const remainingWork: UseCase<{ readonly runId: string }, Remaining> = {
  kind: "read",
  run: async (tx, _context, { runId }) => {
    const agents = newestPerName(await tx.agents.list({ runId }));
    const merges = await tx.merges.list({ runId, statuses: openMergeStatuses });
    const branchesWhere = (waiting: boolean): readonly string[] =>
      merges.filter(({ approval }) => (approval === "waiting") === waiting).map(({ branch }) => branch);
    return ok({
      agents: agents
        .filter((agent) => !isIn("persistent", agent.capability) && !hasEnded(agent))
        .map(({ name }) => name),
      branches: branchesWhere(false),
      approvals: branchesWhere(true),
    });
  },
};

/** Waits until nothing of a run goes on by itself any more; each item is what is left. */
export const followRemaining: Stream<{ readonly runId: string }, null, Remaining> = {
  kind: "stream",
  place: "engine",
  run: async (world, request, { onItem }) =>
    world.until(async () => {
      const left = await world.call("coordinator.remaining", request);
      if (!left.ok) return left;
      if (left.value.agents.length + left.value.branches.length === 0) return ok(null);
      onItem(left.value);
      return undefined;
    }),
};
