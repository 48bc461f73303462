import type { Result } from "../domain/result.ts";
/** Texts that live beside the database, because people and agents read them as files. Writes are atomic and repeatable. */
export interface ProjectFiles {
  /** Stores a long mail body under its digest; returns the path. */
  writeMailBlob(body: string): Promise<string>;
  readMailBlob(path: string): Promise<string | undefined>;
  /**
   * Stores the text of a specification under its digest. Returns the digest and the absolute path at which people will
   * read it. The file at that path does not change until `readSpec` is given the digest.
   */
  writeSpec(taskId: string, text: string): Promise<{ path: string; digest: string }>;
  /**
   * The specification of a task, where `digest` names the text it was last given, null for none. The readable file
   * follows: it is renewed when it is missing or holds an older text. What a person wrote into it since counts, and is
   * not replaced.
   */
  readSpec(taskId: string, digest: string | null): Promise<SpecText | undefined>;
  /** Keeps the variables an agent's processes will get, readable by the owner alone; returns the path. */
  writeEnvironment(values: Readonly<Record<string, string>>): Promise<string>;
  /** Undefined where the file is gone. */
  readEnvironment(path: string): Promise<Readonly<Record<string, string>> | undefined>;
  removeEnvironment(path: string): Promise<void>;
  /** The repository has no such branch any more, for certain. Looks at two files and starts no git: hot commands ask. */
  lacksBranch(branch: string): boolean;
}

export interface SpecText {
  readonly path: string;
  readonly text: string;
  /** True when the text differs from the one that was stored for the task: somebody edited the file. */
  readonly byHand: boolean;
}

/** Files at paths that a person typed, relative to where the command was typed. */
export interface TypedFiles {
  absolute(path: string): string;
  exists(path: string): boolean;
  /** With everything below it. */
  remove(path: string): void;
}

/** Where a path begins: where the command was typed, or at the root of the project. */
export type FilePlace = "typed" | "project";

/** Text files that a command reads or writes for its caller. */
export interface TextFiles {
  /** The absolute path. */
  locate(path: string, at: FilePlace): Promise<string>;
  /** Undefined when the file does not exist. Refused with the system's error code when it exists and cannot be read. */
  read(path: string): Result<string | undefined, string>;
  /** Where a write to this path would end, with links followed. */
  realPath(path: string): Promise<string>;
  /** Is the directory of this path there? */
  hasDirectory(path: string): boolean;
  /** Makes missing directories. Other programs see the old text or the new one. */
  write(path: string, text: string): void;
}

/** Files in the state directory that are kept for a while and then let go of. */
export interface OldFiles {
  /**
   * Directories of turns with no write since `time`, each with its turn id. Returns a part of them; another `turn`
   * returns another part.
   */
  turnLogsBefore(time: number, turn: number): Promise<readonly { readonly path: string; readonly turnId: string }[]>;
  /** The same for turns whose output is not compressed. */
  plainOutputsBefore(
    time: number,
    turn: number,
  ): Promise<readonly { readonly path: string; readonly turnId: string }[]>;
  compressOutput(path: string): Promise<void>;
  /** Also removes the directory of an agent when it is empty. */
  removeTurnLogs(paths: readonly string[]): Promise<void>;
  /** Ids of trains, checks and other work whose logs had no write since `time`. Returns a part of them, as above. */
  logsBefore(time: number, turn: number): Promise<readonly string[]>;
  removeLogs(ids: readonly string[]): Promise<void>;
  /** Digests of specification texts that were given before `time`. Returns a part of them, as above. */
  specsBefore(time: number, turn: number): Promise<readonly string[]>;
  /** A text that was given again since `before` stays. */
  removeSpecs(digests: readonly string[], before: number): Promise<void>;
  /** Paths of files with variables captured from a shell. Returns a part of them, as above. */
  environmentsBefore(time: number, turn: number): Promise<readonly string[]>;
  /** Names of files with long mail bodies. Returns a part of them, as above. */
  blobsBefore(time: number, turn: number): Promise<readonly string[]>;
  /** A file that was written again since `before` stays. */
  removeBlobs(names: readonly string[], before: number): Promise<void>;
}
