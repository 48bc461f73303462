import { no, ok } from "../../domain/result.ts";
import { roleOf } from "../../domain/role/roles.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";

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
