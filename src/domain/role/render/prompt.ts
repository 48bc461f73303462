import { no, ok, type Result } from "../../result.ts";
import type { ProjectTerms } from "../assignment.ts";
import type { RoleSpec } from "../role-spec.ts";
import { roleFacts } from "./facts.ts";
import { fill } from "./placeholders.ts";

/** Largest prompt of a role, in bytes: how commands are written belongs into tool schemas and `--help`, not in here. */
export const promptBudget = 8 * 1024;

/** How an agent of this role works: the role's own text, then what follows from its rules. Refuses unknown placeholders. */
export function renderPrompt(
  role: RoleSpec,
  text: string,
  terms: ProjectTerms,
): Result<string, { readonly unknown: readonly string[] }> {
  const filled = fill(text, terms);
  if (!filled.ok) return no({ unknown: filled.refusal });
  const title = `${role.capability.charAt(0).toUpperCase()}${role.capability.slice(1)}`;
  return ok(`# ${title}\n\nYou are ${role.job}.\n\n${filled.value.trim()}\n\n${roleFacts(role, terms)}`);
}
