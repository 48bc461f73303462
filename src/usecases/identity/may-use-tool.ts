import { no, ok } from "../../domain/result.ts";
import { roleOf, toolsOf } from "../../domain/role/roles.ts";
import { fields, text } from "../../domain/schema/schema.ts";
import type { UseCase } from "../usecase.ts";

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
