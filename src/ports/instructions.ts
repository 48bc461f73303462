import type { WorktreeKind } from "../domain/agent/agent.ts";
import type { Assignment, ProjectTerms } from "../domain/role/assignment.ts";
import type { RoleText } from "../domain/role/override.ts";
import type { Role } from "../domain/role/role-spec.ts";
import type { GuardCommand } from "./runtime.ts";

export interface InstructionRequest {
  readonly given: Assignment;
  readonly worktreeKind: WorktreeKind;
  /** Where the agent's program looks for instructions, relative to the worktree. */
  readonly instructionFile: string;
  /** No turn has run in the worktree yet: a file that is missing there is missing in its commit. */
  readonly untouched: boolean;
}

export interface PlacedInstructions {
  /** `builder@` and the first twelve digits of the digest of the role's prompt: the same for all who were told the same. */
  readonly version: string;
  /** The whole text, and its digest. */
  readonly text: string;
  readonly hash: string;
  /** Absolute path of the copy in the state directory. */
  readonly file: string;
  /** The agent's program finds them by itself. Otherwise they must be handed over by path, which is `file`. */
  readonly found: boolean;
  /** What guards the agent's tools by its rules, which were written beside `file`. Null where the operator wants none. */
  readonly guard: GuardCommand | null;
  /** Why a text of the project's own was not used. */
  readonly problem: string | null;
}

/** Gives agents their instructions. */
export interface Instructions {
  /**
   * Renders the instructions of an agent and writes them: into the state directory, and into the worktree unless a file
   * that is not ours stands at that path. Never changes a tracked file, and the written files show up in no commit.
   * Safe to repeat.
   */
  place(request: InstructionRequest): PlacedInstructions;
}

export interface OwnRoleText extends RoleText {
  /** The project's own texts, relative to the project, whether they exist or not. */
  readonly files: { readonly replacement: string; readonly addition: string };
}

/** The role texts of a project: those of the program, the project's own, and those that agents have been given. */
export interface RoleTexts {
  /** The text that ships with the program, and its digest. */
  builtIn(role: Role): { readonly text: string; readonly hash: string };
  /** The text that counts in this project. */
  own(role: Role): OwnRoleText;
  /** Facts that hold for every agent of the project. */
  readonly terms: ProjectTerms;
  digest(text: string): string;
  /** The prompt that was once given under this version; undefined when no agent ever got it here. */
  kept(version: string): string | undefined;
  /** The instructions this agent was last given; undefined before its first turn. */
  givenTo(agent: string): string | undefined;
}
