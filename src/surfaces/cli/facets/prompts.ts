import type { ProjectTerms } from "../../../domain/role/assignment.ts";
import type { RoleText } from "../../../domain/role/override.ts";
import type { Role } from "../../../domain/role/role-spec.ts";

/** The role texts of the program and of the project, for `ov prompt`. */
export interface PromptFacet {
  /** What ships with the program, and its digest. */
  builtIn(role: Role): { readonly text: string; readonly hash: string };
  /** What counts in this project. */
  own(role: Role): RoleText & {
    /** Relative to the project, whether they exist or not. */
    readonly files: { readonly replacement: string; readonly addition: string };
  };
  terms(): ProjectTerms;
  digest(text: string): string;
  /** The prompt that was once given under this version; undefined when no agent ever got it here. */
  kept(version: string): string | undefined;
  /** The instructions this agent was last given; undefined before its first turn. */
  givenTo(agent: string): string | undefined;
}
