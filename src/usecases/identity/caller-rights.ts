import type { Capability } from "../../domain/agent/capability.ts";
import { notFound } from "../../domain/refusal.ts";
import { no, ok } from "../../domain/result.ts";
import { roleOf, toolsOf } from "../../domain/role/roles.ts";
import { fields, noFields, text } from "../../domain/schema/schema.ts";
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

/** The agent that holds this token. It writes nothing, but only refusals of writes are put on record. */
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

/** Refuses every caller but the operator, and puts the attempt on record. */
export const requireOperator: UseCase<{ readonly action: string }, null> = {
  kind: "read",
  request: fields({ action: text }),
  guarded: true,
  run: async (_tx, { caller }, { action }) =>
    caller.kind === "operator"
      ? ok(null)
      : no({ kind: "not-allowed", action, caller: caller.name, why: "that is for the operator" }),
};

/** Refuses an unknown caller, and puts the attempt on record. */
export const checkCaller: UseCase<object, null> = {
  kind: "read",
  request: noFields,
  guarded: true,
  run: async () => ok(null),
};

/** May the caller use this tool? Asked about tools that were not offered, so that trying them is put on record. */
export const mayUseTool: UseCase<{ readonly tool: string }, { readonly tool: string }> = {
  kind: "write",
  request: fields({ tool: text }),
  run: async (_tx, { caller }, { tool }) => {
    if (caller.kind !== "agent") return ok({ tool });
    const { capability } = caller;
    if (toolsOf(roleOf(capability), { expertise: true }).some((name) => name === tool)) return ok({ tool });
    const why = `a ${capability} has no such tool`;
    return no({ kind: "not-allowed", action: `use the tool ${tool}`, caller: caller.name, why });
  },
};

/** May the caller have this file written for it? An agent may where its role may write: in its own worktree, or nowhere. */
export const mayWrite: UseCase<{ readonly path: string }, { readonly path: string }> = {
  kind: "read",
  request: fields({ path: text }),
  guarded: true,
  run: async (tx, { caller }, { path }) => {
    if (caller.kind !== "agent") return ok({ path });
    const { access } = roleOf(caller.capability);
    const worktree = (await tx.agents.get(caller.agentId))?.worktreePath ?? null;
    const writes = access.files === "scoped-write" && worktree !== null;
    if (writes && path.startsWith(`${worktree}/`) && !path.split("/").includes(".git")) return ok({ path });
    const why = writes ? `it writes only in ${worktree}` : `a ${caller.capability} writes no files; use - for the file`;
    return no({ kind: "not-allowed", action: `write ${path}`, caller: caller.name, why });
  },
};
