import type { ProjectTerms } from "../domain/role/assignment.ts";
import type { RoleText } from "../domain/role/override.ts";
import type { Role } from "../domain/role/role-spec.ts";

export interface OwnRoleText extends RoleText {
  /** The project's own texts, relative to the project, whether they exist or not. */
  readonly files: { readonly replacement: string; readonly addition: string };
}

/** What agents of a project are told: the texts of the program and of the project, and what was given to agents. */
export interface RoleTexts {
  /** The text that ships with the program, and its digest. */
  builtIn(role: Role): { readonly text: string; readonly hash: string };
  /** The text that counts in this project. */
  own(role: Role): OwnRoleText;
  /** What is true for every agent of the project. */
  readonly terms: ProjectTerms;
  digest(text: string): string;
  /** The prompt that was once given under this version; undefined when no agent ever got it here. */
  kept(version: string): string | undefined;
  /** The instructions this agent was last given; undefined before its first turn. */
  givenTo(agent: string): string | undefined;
}
