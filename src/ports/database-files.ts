import type { ProcessIdentity } from "../domain/process/process.ts";

/** A directory that is elsewhere now. */
export interface Moved {
  readonly from: string;
  readonly to: string;
}

export interface Rebinding {
  readonly moved: readonly Moved[];
  /** What tells a worktree from other directories is looked up again: a copied directory is another one. */
  readonly identityOf: (path: string) => string | undefined;
}

export interface DatabaseMove extends Moved, Rebinding {
  /** The new file is complete, the old one still counts. */
  readonly copied: () => void;
}

/** A database as the file that it is, for projects that were moved or copied. Each call may be repeated after a crash. */
export interface DatabaseFiles {
  /** The id in the database; `fresh` becomes it when there is none yet. Brings an older database up to date first. */
  projectIdIn(path: string, fresh: string, now: number): Promise<string>;
  /** Processes that the database knows and that have not ended as far as it knows. */
  openProcessesIn(path: string): readonly (ProcessIdentity & { readonly role: string })[];
  /** Writes every path of the project as it is now. */
  rebindPaths(path: string, rebinding: Rebinding): void;
  /** As `rebindPaths`, for a copy: it has an id of its own, and no process, token or lease of the original is its own. */
  detachCopy(path: string, rebinding: Rebinding & { readonly id: string; readonly now: number }): void;
  /** Moves a database to a new file. Until that is done the old file counts. */
  moveDatabase(move: DatabaseMove): void;
  /** Whether the file is the rest of a database that was moved. */
  wasMoved(path: string): boolean;
}

/** Copies of a database in backups. */
export interface DatabaseCopies {
  /** Is it damaged beyond what new indexes mend? Reads the whole file. */
  isRuined(path: string): boolean;
  /** Writes a complete copy of the database to a new file, as one consistent moment, while others go on using it. */
  copyDatabase(path: string, to: string): void;
  /** Gives the space of deleted rows back to the disk. */
  shrinkDatabase(path: string): void;
  /** Puts back rows of the copy that are missing now. Answers how many. */
  restoreDatabase(path: string, from: string): number;
  /** Puts the whole copy in the place of a database that is gone. Answers how many rows it has. */
  restoreWhole(path: string, from: string): number;
}
