import { type Capability, canonical } from "../agent/capability.ts";
import { coordinator, monitor, orchestrator } from "./persistent-roles.ts";
import type { Role, RoleSpec } from "./role-spec.ts";
import { builder, lead, merger, reviewer, scout } from "./task-roles.ts";
import { expertiseTools, type ToolName, toolNames } from "./tools.ts";

/** Every role, from the top of the hierarchy down. */
export const roles: Readonly<Record<Role, RoleSpec>> = {
  orchestrator,
  coordinator,
  lead,
  scout,
  builder,
  reviewer,
  merger,
  monitor,
};

export const roleList: readonly RoleSpec[] = Object.values(roles);

/** The role of a capability; `supervisor` plays that of a lead. */
export function roleOf(capability: Capability): RoleSpec {
  const name = canonical(capability);
  return roles[name === "supervisor" ? "lead" : name];
}

/** The MCP tools an agent of this role is given, in the order of the protocol. */
export function toolsOf(role: RoleSpec, options: { readonly expertise: boolean }): readonly ToolName[] {
  const given = new Set<ToolName>(options.expertise ? [...role.tools, ...expertiseTools] : role.tools);
  return toolNames.filter((name) => given.has(name));
}
