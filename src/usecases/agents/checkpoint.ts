import { invalid, notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";

export interface CheckpointRequest {
  readonly progress: string;
  readonly pending?: string | undefined;
}

/** About a page: what a successor reads before it goes on. */
const maxLength = 4_000;

/** An agent notes where it stands, for itself after its conversation was shortened or for whoever goes on instead of it. */
export const checkpoint: UseCase<CheckpointRequest, { readonly agentName: string }> = {
  kind: "write",
  request: fields({ progress: text }, { pending: text }),
  run: async (tx, { caller, now }, { progress, pending = "" }) => {
    if (caller.kind !== "agent") {
      const why = "only an agent knows where it stands";
      return no({ kind: "not-allowed", action: "write a checkpoint", caller: caller.name, why });
    }
    const agent = await tx.agents.get(caller.agentId);
    if (agent === undefined) return no(notFound("agent", caller.name));
    const summary = progress.trim();
    if (summary === "") return no(invalid("progress", "must not be empty"));
    const earlier = await tx.recovery.checkpoint(agent.name);
    await tx.recovery.putCheckpoint({
      agentName: agent.name,
      generation: agent.generation,
      taskId: agent.taskId,
      turnId: caller.turnId,
      summary: summary.slice(0, maxLength),
      files: earlier?.files ?? [],
      branch: agent.branch,
      pending: pending.trim().slice(0, maxLength),
      updatedAt: now,
    });
    return ok({ agentName: agent.name });
  },
};
