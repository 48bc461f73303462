import type { CleanTarget } from "../domain/worktree/classify.ts";

/** A directory of the project's state to be emptied. */
export interface CleanDir {
  readonly target: CleanTarget;
  /** Relative to the state directory. */
  readonly dir: string;
  readonly entries: number;
  readonly backUp: boolean;
}

/** Where everything that is about to go can be found again. */
export interface Backup {
  /** What `ov clean --restore` takes. */
  readonly name: string;
  /** The directory, relative to the project. */
  readonly path: string;
}

/** Files and backups of a project's state that cleaning works on. */
export interface CleanFiles {
  /** How many entries a directory of the state has; 0 when there is none. */
  count(dir: string): Promise<number>;
  /** Copies the database and the history of these refs. */
  backUp(refs: readonly string[]): Promise<Backup>;
  /** Empties a directory of the project's state; its contents go to the backup when they are worth it. */
  emptyDir(dir: CleanDir, backup: Backup): Promise<void>;
  /** Moves what a removed worktree left in the trash to the backup; answers where it is now. */
  moveTrash(path: string, backup: Backup): Promise<string>;
  /** The names of all backups. */
  backups(): readonly string[];
  /** The newest backup with a copy of the database; null when there is none. */
  newestBackup(): string | null;
  /** Does this backup hold a copy of the database? */
  hasCopy(name: string): boolean;
  /** True when the database file exists and cannot be used. */
  isDatabaseRuined(): boolean;
  /** Brings back what a backup holds, as far as nothing has taken its place. */
  bringBack(name: string): Promise<BroughtBack>;
  /** Gives the space of removed rows back to the disk. */
  shrinkDatabase(): void;
}

export interface BroughtBack {
  /** Refs that were missing and are back. */
  readonly refs: readonly string[];
  readonly rows: number;
  /** Where the damaged database is kept that the copy took the place of, from the root; null when it was sound. */
  readonly putAside: string | null;
  /** Files and directories that were missing and are back, relative to the state directory. */
  readonly files: readonly string[];
}
