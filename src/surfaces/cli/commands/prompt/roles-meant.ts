import { type Capability, isCapability } from "../../../../domain/agent/capability.ts";
import type { RoleSpec } from "../../../../domain/role/role-spec.ts";
import { roleList, roleOf } from "../../../../domain/role/roles.ts";
import type { Call } from "../../command.ts";

/** The role named as an argument; the parser has let only known ones through. */
export function roleNamed(args: Call["args"]): RoleSpec | undefined {
  const typed = args.role;
  return typeof typed === "string" && isCapability(typed) ? roleOf(typed satisfies Capability) : undefined;
}

/** The role named, or all of them. */
export function rolesMeant(args: Call["args"]): readonly RoleSpec[] {
  const named = roleNamed(args);
  return named === undefined ? roleList : [named];
}
