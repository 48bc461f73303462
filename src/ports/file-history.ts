import type { Result } from "../domain/result.ts";

/** A file of a checkout, or of a branch. */
export interface NamedPlace {
  /** Relative to the top of the checkout. */
  readonly path: string;
  /** The commit whose file is looked at. */
  readonly tip: string;
  /** The branch of `tip`; null when none is checked out. */
  readonly branch: string | null;
  /** The text of the file in the checkout; null when the file is missing, or when another branch is checked out. */
  readonly text: string | null;
  /** Git takes the file in the checkout for the one of `tip`, although a filter may have written it in other words. */
  readonly isCommitted: boolean;
}

/** A line and the commit that wrote it. */
export interface BlamedLine {
  readonly line: number;
  readonly commit: string;
  readonly text: string;
}

export interface CommitFacts {
  readonly id: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly committedAt: number;
  readonly subject: string;
  /** The history of a shallow clone ends here: lines that git gives to this commit may be older, and of others. */
  readonly isCutOff: boolean;
  /**
   * What its message says about itself behind `Overstory-`, by name: `Agent`, `Task`, `Run`, `Queue-Id`. Any author of
   * a commit can write this.
   */
  readonly trailers: Readonly<Record<string, string>>;
}

/** What git knows about the lines of a file. Everything it starts is bounded in time and output, and runs no program of the repository. */
export interface FileHistory {
  /** Finds the file: in the checkout around it, or on a branch. Refused with the reason, in words that follow the file's name. */
  locate(typed: string, branch: string | undefined): Promise<Result<NamedPlace, string>>;
  /** The lines of a file at a commit, all of them or from one to another. Refused with the reason. */
  blame(
    place: Pick<NamedPlace, "path" | "tip">,
    range: { readonly from: number; readonly to: number } | undefined,
  ): Promise<Result<readonly BlamedLine[], string>>;
  commit(id: string): Promise<CommitFacts | undefined>;
  /** The merges by which a commit came into a branch, the outermost first. None for a commit that was made on the branch itself. */
  mergesThatBrought(commit: string, tip: string): Promise<readonly CommitFacts[]>;
  /** Branches of agents that have the commit, by name; the first of very many. */
  agentBranchesWith(commit: string): Promise<readonly string[]>;
  /** Whether the commit was made on the branch itself, after it began at `base`: no merge brought it. */
  isMadeOn(commit: string, branch: string, base: string): Promise<boolean>;
}
