import { ok } from "../../domain/result.ts";
import type { UseCase } from "../usecase.ts";

export interface RecordEventRequest {
  readonly type: string;
  /** Whom it is about; an agent's own events are always about itself. */
  readonly agent?: string;
  readonly data?: unknown;
}

/** One event from a hook of an agent's runtime: what it sees at every tool call, so it costs one insert. */
export const recordHookEvent: UseCase<RecordEventRequest, { readonly type: string }> = {
  kind: "write",
  run: async (tx, { caller, now }, { type, agent, data }) => {
    const about =
      caller.kind === "agent"
        ? { runId: caller.runId, agentName: caller.name, agentId: caller.agentId, turnId: caller.turnId }
        : { agentName: agent ?? null };
    await tx.events.append([{ ...about, source: "hook", type, data, createdAt: now }]);
    if (caller.kind === "agent") await tx.agents.sawActivity(caller.agentId, now);
    return ok({ type });
  },
};
