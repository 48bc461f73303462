import type { KeptState } from "../../../domain/project/generated-state.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

/** What can be asked for alone. The other parts are brought up to date when nothing is. */
export const namedParts = ["agents", "manifest", "hooks"] as const;
export type NamedPart = (typeof namedParts)[number];

export interface UpdateRequest {
  /** None: everything. */
  readonly only: readonly NamedPart[];
  readonly dryRun: boolean;
  /** Replace what was changed by hand as well, keeping a copy. Texts of the project's own are not meant. */
  readonly force: boolean;
}

/** Something that was left as it is, because somebody else's words are in it. */
export interface Kept {
  readonly part: "agentDefs" | "manifest" | "hooks" | "gitignore" | "readme" | "instructions";
  /** Relative to the root. */
  readonly path: string;
  readonly state: KeptState;
  /** Completes the sentence "`<path>` ...". */
  readonly why: string;
  /** `force` would replace it. */
  readonly replaceable: boolean;
}

interface Updated {
  /** With `dryRun`: would be. */
  readonly updated: boolean;
}

export interface UpdateReport {
  readonly dryRun: boolean;
  /** Role texts ship inside the program, so the project's own are all there are, and none is ever written. */
  readonly agentDefs: { readonly updated: readonly string[]; readonly unchanged: readonly string[] };
  readonly manifest: Updated;
  readonly hooks: Updated;
  readonly gitignore: Updated;
  readonly readme: Updated;
  readonly instructions: Updated;
  /** Paths that were written, or would be, relative to the root. */
  readonly written: readonly string[];
  readonly kept: readonly Kept[];
  /** Copies of what was replaced. */
  readonly backups: readonly string[];
}

/** Brings what the program generated into a project up to date. */
export interface UpdateFacet {
  /** Repeatable: a second one changes nothing. */
  update(request: UpdateRequest): Promise<Result<UpdateReport, Refusal>>;
}
