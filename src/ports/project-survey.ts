import type { ProjectFacts, StoredRows, UnreadableFile } from "../domain/consistency/facts.ts";
import type { FailureData } from "../domain/failure.ts";

/** A project as it lies on the disk, and what else of this machine `ov doctor` looks at. Looking changes nothing. */
export interface ProjectSurvey {
  /** The facts of one moment, with these rows. */
  look(rows: StoredRows | null): Promise<ProjectFacts>;
  /** Reads the whole file of the database, so it takes as long as that is large. */
  database(): DatabaseHealth;
  /** The newest backup with a copy of the database; null when there is none. */
  newestBackup(): string | null;
  /** The first line of a program's answer about its version; null when the program is missing or does not answer. */
  versionOf(program: string, args: readonly string[]): Promise<string | null>;
  git(): Promise<GitHealth>;
  /** Reads tracked files, within bounds of bytes and time. */
  trackedSecrets(): Promise<TrackedSecrets>;
  /** Bytes below a directory of the state. */
  sizeOf(dir: string): number;
  /** Does something answer at this address within a second? */
  answers(address: string): Promise<boolean>;
}

export interface DatabaseHealth {
  readonly exists: boolean;
  /** Why it cannot be opened. */
  readonly problem: FailureData | null;
  readonly version: number;
  /** The version that this program brings it to. */
  readonly newest: number;
  /** Readers and writers do not hold each other up. */
  readonly isLogged: boolean;
  /** What SQLite says about damaged pages and indexes. */
  readonly damage: readonly string[];
  /** Tables of a large database that there was no time to look at. */
  readonly unseen: readonly string[];
  /** It cannot be read, or pages of tables are damaged: neither a later look nor new indexes mend it. */
  readonly isRuined: boolean;
  readonly bytes: number;
}

/** Secrets in tracked files, as these lie in the checkout. */
export interface TrackedSecrets {
  /** Files with the name of a key or a password file. */
  readonly named: readonly string[];
  /** Lines of text files that hold a key of a known shape; never the key. */
  readonly lines: readonly { readonly path: string; readonly line: number }[];
  /** How many files were not read: those of tests, which hold made-up keys, large ones, and those for which there was no time. */
  readonly unread: { readonly tests: number; readonly large: number; readonly late: number };
}

export interface GitHealth {
  readonly version: string;
  /** The author of commits; null where git does not know. */
  readonly committer: string | null;
  /** Commits are signed by the settings of the user. */
  readonly signs: boolean;
  /** Hooks of the repository that git would run for the user. */
  readonly hooks: readonly string[];
  readonly hasCommit: boolean;
  /** Git takes the checkout for none, because `core.bare` is set. */
  readonly isBare: boolean;
  /** Objects for which git shows others instead: `git replace`. */
  readonly replaced: readonly string[];
  readonly branches: readonly string[];
}

/** The steps of a fix that change files, refs and processes. Each may be repeated. */
export interface ProjectRepairs {
  /** Moves a path to the trash, where it never expires; answers where it is now. Undefined when it is gone. */
  trash(path: string): string | undefined;
  delete(path: string): void;
  setMode(path: string, mode: number): void;
  /** Deletes a ref. Its commit is kept under the ref that is the answer, unless a branch holds it: then null. */
  retire(ref: string, commit: string): Promise<string | null>;
  /**
   * Deletes a ref whose object is missing. Returns the path of the file in the trash that records its name and number.
   */
  dropRef(ref: string, commit: string): Promise<string>;
  /** Makes a ref that is missing, or that git cannot read. False when the ref exists. */
  restore(ref: string, commit: string): Promise<boolean>;
  /** Moves the file to the trash and writes it again for this branch. Answers where it is now. */
  recheck(file: UnreadableFile, branch: string): Promise<string | undefined>;
  /** Deletes git's record of a worktree whose directory is gone. */
  prune(path: string): Promise<void>;
  /** Finishes moves of checkouts, or takes them back. */
  finishMoves(): Promise<void>;
  /** Copies the database aside, then builds its indexes again and switches its log on. Answers the copy. */
  rebuildDatabase(): string;
}
