import type { EarlierPart, EarlierProcess, EarlierRow, NotImportable } from "../domain/earlier/earlier-project.ts";
import type { Result } from "../domain/result.ts";

/** A project of an earlier version beside ours, in the same checkout. Nothing of it is ever written, moved or locked. */
export interface EarlierProject {
  /** Copies its databases, with what their logs hold, and opens the copies. A file of another shape refuses all of them. */
  open(): Promise<Result<OpenedEarlier, NotImportable>>;
}

export interface OpenedEarlier extends AsyncDisposable {
  /** The kinds of data that the earlier project has, each with its number of rows. */
  readonly parts: ReadonlyMap<EarlierPart, number>;
  /** Where its work was to land, when it says so. */
  readonly targetBranch: string | undefined;
  /** What of it still runs. */
  running(): Promise<readonly EarlierProcess[]>;
  /** Rows after this one, with what git knows of their branches and worktrees. */
  after(part: EarlierPart, place: number, limit: number): Promise<readonly EarlierRow[]>;
  /** How many rows come after this one. */
  countAfter(part: EarlierPart, place: number): number;
  /**
   * Sentences about things outside the database that are not imported: edited role texts, hooks, branches without an
   * agent.
   */
  remarks(): Promise<readonly string[]>;
}
