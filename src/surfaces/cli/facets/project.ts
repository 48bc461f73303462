import type { DetectedGate } from "../../../domain/project/gate.ts";
import type { SetupCommand } from "../../../domain/project/setup-command.ts";
import type { UnusableGate } from "../../../domain/project/unusable-gates.ts";
import type { Refusal } from "../../../domain/refusal.ts";
import type { Result } from "../../../domain/result.ts";

export interface InitRequest {
  readonly name?: string | undefined;
  /** Overwrite the configuration, keeping a dated copy of the old one. */
  readonly reset: boolean;
  readonly commit: boolean;
  /** Tell a person's own session about us, in the instruction file it reads. */
  readonly instructions: boolean;
  /** The runtime that agents are to have, where the caller knows better than the settings. */
  readonly runtime?: string | undefined;
  /** `merge.setup` of a new configuration. */
  readonly setup?: string | undefined;
  /** Begin with an empty database where the one that was there is gone. */
  readonly newDatabase?: boolean;
}

export interface InitReport {
  readonly status: "initialized" | "already_initialized";
  readonly project: string;
  readonly root: string;
  readonly canonicalBranch: string;
  /** The runtime in force here. */
  readonly runtime: string;
  /** As configured; `from` is the file a gate was read from. */
  readonly gates: readonly DetectedGate[];
  /** Paths relative to the root that were made or brought up to date. */
  readonly created: readonly string[];
  readonly unchanged: readonly string[];
  /** Copies of what a reset replaced. */
  readonly backups: readonly string[];
  readonly committed: boolean;
  /** The branch of the commit; null when nothing was committed, or HEAD is on no branch. */
  readonly committedOn: string | null;
  readonly warnings: readonly string[];
}

/** The changes of the configuration that `ov init` proposes. */
export interface InitProposals {
  /** False where `ov init` is about to write the configuration anew. */
  readonly isConfigured: boolean;
  /** A setup command that the project's files name, if none is set. */
  readonly setup: SetupCommand | undefined;
  /** Gates of the configuration, or of the one that is to be written, that cannot run here. */
  readonly unusable: readonly UnusableGate[];
  /** The other gates, in the form in which they would be set. */
  readonly remaining: readonly unknown[];
}

export interface SetUpPlan {
  readonly root: string;
  readonly runtime: string;
  readonly gates: readonly DetectedGate[];
  /** The command that would install dependencies before gates. */
  readonly setup: SetupCommand | undefined;
  /** Where the new files would be committed; undefined on no branch. */
  readonly branch: string | undefined;
}

/** What concerns the project as a whole rather than its store. */
export interface ProjectFacet {
  /** Sets up the project around the working directory. Repeatable: what is there already stays as it is. */
  init(request: InitRequest): Promise<Result<InitReport, Refusal>>;
  /** The changes that `init` with the same request would propose. Writes nothing. */
  proposals(request: Pick<InitRequest, "reset">): Promise<InitProposals>;
  /** Sets one key of the shared configuration. */
  set(key: string, value: string): Promise<Result<null, Refusal>>;
  /** What setting it up would write; undefined where it is set up already. Nothing is written by looking. */
  setUpPlan(): Promise<SetUpPlan | undefined>;
  /** The branch checked out where the command was typed; undefined when there is none. */
  currentBranch(): Promise<string | undefined>;
}
