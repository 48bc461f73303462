import type { HookEvent } from "../domain/hook/hook.ts";
import type { DetectedGate } from "../domain/project/gates.ts";
import type { GeneratedState } from "../domain/project/generated-state.ts";
import type { GeneratedFile } from "../domain/project/generated-texts.ts";
import type { ProjectPlace } from "../domain/project/place.ts";
import type { CommitFacts, OwnPath } from "../domain/project/set-up.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { Result } from "../domain/result.ts";
import type { RoleText } from "../domain/role/override.ts";

/** What a project is, as it was found out or as its settings have it. */
export interface ProjectFacts {
  readonly name: string;
  readonly canonicalBranch: string;
  readonly runtime: string;
  readonly gates: readonly DetectedGate[];
}

export interface SetUpOrder {
  readonly facts: ProjectFacts;
  /** The settings of a branch that was checked out before; they are written instead of new ones. */
  readonly lastKnown: string | undefined;
  /** `merge.setup` of new settings. */
  readonly setup: string | undefined;
  /** Replace existing settings, keeping a dated copy. */
  readonly reset: boolean;
  /** Tell a person's own session about us, in the instruction file it reads. */
  readonly instructions: boolean;
}

export interface MadeFiles {
  /** Paths relative to the root that were made or brought up to date. */
  readonly created: readonly string[];
  readonly unchanged: readonly string[];
  /** Copies of what a reset replaced. */
  readonly backups: readonly string[];
  /** Files that the project shares; a `mixed` one holds more than our own words. */
  readonly own: readonly OwnPath[];
  /** Files that were uncommitted before this set-up wrote anything. */
  readonly uncommitted: CommitFacts["uncommitted"];
  /** An instruction file that was not touched, and why. */
  readonly leftAlone: { readonly file: string; readonly why: string } | undefined;
}

export type CommitAnswer =
  /** With the names of hooks that `git commit` would have run. */
  | { readonly kind: "committed"; readonly hooksNotRun: readonly string[] }
  | { readonly kind: "nothing-to-commit" }
  | { readonly kind: "failed"; readonly why: string };

/** The repository around a directory, which a project is set up in, and the machine it is on. */
export interface ProjectSetup {
  readonly root: string;
  /** The name of its directory. */
  readonly directory: string;
  readonly originUrl: string | undefined;
  /** The branch that is checked out; undefined when none is. */
  readonly branch: string | undefined;
  /** The branch that `origin` calls its main one, else the one checked out, of those that settings can name. */
  readonly mainBranch: string | undefined;
  /** The root is a linked worktree, which `git worktree remove` would delete with everything that git ignores in it. */
  readonly isRemovable: boolean;
  /** It is a project, or a branch brought the settings of one. */
  readonly isSetUp: boolean;
  /** Where the project is, as far as it is bound by now. */
  place(): ProjectPlace;
  /** Sees to it that the state belongs to this place. A copy of another project becomes a project of its own. */
  bind(): Promise<{ readonly isAdopted: boolean }>;
  /** The path of something that is no directory and has the name of ours. */
  obstacle(): string | undefined;
  /** Git tracks settings that a sparse checkout leaves out. */
  settingsAreLeftOut(): Promise<boolean>;
  /** Whether settings exist, and their last known text where another branch is checked out. */
  settings(): { readonly isThere: boolean; readonly lastKnown: string | undefined };
  /**
   * The damage of an existing database, and the newest backup; null when commands can use the database. Reads the whole
   * file.
   */
  databaseDamage(): { readonly problem: string; readonly backup: string | null } | null;
  /** Moves the database to the trash, where it stays; answers its path there, from the root. */
  putDatabaseAside(): string;
  /** Throws when the database cannot be used, or is lost and nothing says that a new one is wanted. */
  checkDatabase(options: { readonly mayBeNew: boolean }): Promise<void>;
  /** Several calls at the same time come one after the other. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Writes the missing files, the settings last: a directory with settings is a project. If the writing is cut short,
   * the project is not set up yet, and the next call completes it.
   */
  write(order: SetUpOrder): Promise<MadeFiles>;
  /** Those of the paths that git is told to ignore. */
  ignored(paths: readonly string[]): Promise<readonly string[]>;
  commit(paths: readonly string[], message: string): Promise<CommitAnswer>;
  /** Paths of databases that an earlier version left. */
  earlierDatabases(): readonly string[];
  /** Texts of the named files, as far as they exist and can be read. */
  texts(names: readonly string[]): ReadonlyMap<string, string>;
  read(path: string): string | undefined;
  exists(path: string): boolean;
  /** A program of this name is on PATH. */
  has(program: string): boolean;
  /** The coding agents on PATH, by the name of their runtime. */
  installedRuntimes(): readonly string[];
  /** The program of a runtime; undefined for a runtime that we do not know, null where it is our own. */
  programOf(runtime: string): string | null | undefined;
  starts(program: string): Promise<boolean>;
}

/** One thing that the program generated into a project, as it is found. */
export interface GeneratedPart {
  readonly part: GeneratedFile | "instructions" | "hooks";
  /** Relative to the root. */
  readonly path: string;
  readonly state: GeneratedState;
  /** Why it cannot be written, for every caller. */
  readonly stuck?: string;
  /** Writes what ships, all of it or nothing. A refusal when that could not be done. */
  write(): Promise<Refusal | undefined>;
}

/** What the program generated into a project, besides hooks. */
export interface GeneratedParts {
  /** A file in `.overstory/` that is ours from its first byte to its last. */
  file(part: GeneratedFile): GeneratedPart;
  /** Our section in the instruction file of a person's own sessions; undefined where there is none. */
  guide(runtime: string): GeneratedPart | undefined;
  /** Keeps a copy of a file among our own, where git ignores it. Answers its path, relative to the root as well. */
  keepCopy(path: string): string;
  /** The project's own role texts, with the names of the files that exist. `dir` is written as in the settings. */
  ownTexts(dir: string): readonly (RoleText & { readonly replacement: string; readonly names: readonly string[] })[];
}

/** What the settings file was before our entries came, and as we last wrote it. */
export interface HookMemory {
  /** Null: there was no file. */
  readonly before: string | null;
  readonly after: string;
}

/** How the settings of one coding agent hold our hooks. What cannot be understood is answered with the problem. */
export interface HookSettingsFormat {
  /** The settings file, relative to the project. */
  readonly path: string;
  /** The settings where there were none. */
  fresh(): string;
  /** The events that have an entry of ours. */
  events(text: string): Result<readonly HookEvent[], string>;
  add(text: string): Result<string, string>;
  takeOut(text: string): Result<string, string>;
  /** How our entries stand to those that ship; `missing` when there are none. */
  compare(found: { readonly text: string; readonly lastWritten: string | undefined }): GeneratedState;
}

/** The settings of a person's own coding sessions in one project. The file belongs to its user. */
export interface HookSettings {
  readonly format: HookSettingsFormat;
  /** Undefined when there is none; refused with the reason when it cannot be read as text. */
  read(): Result<string | undefined, string>;
  /** Links are followed, and the rights of the file stay as they are. */
  write(text: string): void;
  remove(): void;
  /** Kept outside of the checkout; undefined when we never wrote, or nothing is known of it. */
  recall(): HookMemory | undefined;
  remember(memory: HookMemory | undefined): void;
}

/** The HEAD of a repository that need not be a project yet. */
export interface Head {
  /** Undefined when it is detached. */
  readonly branch: string | undefined;
  /** Undefined before the first commit. */
  readonly commit: string | undefined;
}

export interface RepositoryBranches {
  /** The branch checked out where the command was typed, also before its first commit; undefined when there is none. */
  current(): Promise<string | undefined>;
  /** There is a branch of this name, or it is checked out and waits for its first commit. */
  has(branch: string): Promise<boolean>;
  /**
   * HEAD of the checkout where the command was typed. Of the project's root where that directory is no checkout of the
   * project, or is the worktree of an agent.
   */
  head(): Promise<Head>;
  /** The tip of a branch; undefined when there is none. */
  tip(branch: string): Promise<string | undefined>;
  /** `origin/<branch>`, where the branch of the remote is known here; else undefined. */
  ofOrigin(branch: string): Promise<string | undefined>;
  /** How many commits of the history of `commit` are not in that of the branch. */
  commitsBeyond(branch: string, commit: string): Promise<number>;
  /** How many tracked files of the checkout that `head` is of have changes that are not committed. */
  changedFiles(): Promise<number>;
}
