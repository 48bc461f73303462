/** Files in the state directory that are kept for a while and then let go of. */
export interface OldFiles {
  /** Directories of turns that were not written to since, with the turn's id; some of them, others at another turn. */
  turnLogsBefore(time: number, turn: number): Promise<readonly { readonly path: string; readonly turnId: string }[]>;
  /** With the directory of an agent that has none left. */
  removeTurnLogs(paths: readonly string[]): Promise<void>;
  /** Ids of trains, checks and the like whose logs were not written to since; some of them, others at another turn. */
  logsBefore(time: number, turn: number): Promise<readonly string[]>;
  removeLogs(ids: readonly string[]): Promise<void>;
  /** Digests of texts of specifications that were given before this; some of them, others at another turn. */
  specsBefore(time: number, turn: number): Promise<readonly string[]>;
  /** Those that were given again since stay. */
  removeSpecs(digests: readonly string[], before: number): Promise<void>;
  /** Files with variables captured from a shell, by their path; some of them, others at another turn. */
  environmentsBefore(time: number, turn: number): Promise<readonly string[]>;
  /** Names of files with long mail bodies; some of them, others at another turn. */
  blobsBefore(time: number, turn: number): Promise<readonly string[]>;
  /** Those that were written again since stay. */
  removeBlobs(names: readonly string[], before: number): Promise<void>;
}
