import type { Capability } from "../../domain/agent/capability.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { noFields } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";

/** What an agent's tools must know about it. */
export interface Self {
  readonly name: string;
  readonly capability: Capability;
  readonly parentName: string;
  readonly runId: string;
  readonly taskId: string | null;
  readonly branch: string | null;
}

/** Who the holder of this token is. Writes nothing, but only what counts as a write is put on record when refused. */
export const self: UseCase<object, Self> = {
  kind: "write",
  request: noFields,
  run: async (tx, { caller }) => {
    if (caller.kind !== "agent") {
      const why = "they belong to agents, which have a token in OVERSTORY_TOKEN; a person types ov commands instead";
      return no({ kind: "not-allowed", action: "use the tools of agents", caller: caller.name, why });
    }
    const agent = await tx.agents.get(caller.agentId);
    if (agent === undefined) return no(notFound("agent", caller.name));
    const { name, capability, parentName, runId, taskId, branch } = agent;
    return ok({ name, capability, parentName, runId, taskId, branch });
  },
};
