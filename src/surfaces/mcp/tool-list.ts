import { toolFor } from "../../contract/tools/tools.ts";
import type { RoleSpec } from "../../domain/role/role-spec.ts";
import { toolsOf } from "../../domain/role/roles.ts";
import type { ToolName } from "../../domain/role/tools.ts";
import { implementations } from "./implementations.ts";

/** Nothing here keeps expertise yet. */
const terms = { expertise: false };

/** The names an agent of this role is offered: what its role gives it and this program can do. */
export const offeredTools = (role: RoleSpec): readonly ToolName[] =>
  toolsOf(role, terms).filter((name) => Object.hasOwn(implementations, name));

/** What `tools/list` answers. */
export function listedTools(role: RoleSpec): readonly object[] {
  return offeredTools(role).flatMap((name) => {
    const tool = toolFor(name, role);
    if (tool === undefined) return [];
    const { description, input, readOnly } = tool;
    const annotations = readOnly ? { annotations: { readOnlyHint: true } } : {};
    return [{ name, description, inputSchema: input, ...annotations }];
  });
}
