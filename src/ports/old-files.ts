/** Files in the state directory that are kept for a while and then let go of. */
export interface OldFiles {
  /**
   * Directories of turns with no write since `time`, each with its turn id. Returns a part of them; another `turn`
   * returns another part.
   */
  turnLogsBefore(time: number, turn: number): Promise<readonly { readonly path: string; readonly turnId: string }[]>;
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
