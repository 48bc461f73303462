/** Files in the state directory that are kept for a while and then let go of. */
export interface OldFiles {
  /** Ids of trains, checks and the like whose logs were not written to since; some of them, others at another turn. */
  logsBefore(time: number, turn: number): Promise<readonly string[]>;
  removeLogs(ids: readonly string[]): Promise<void>;
  /** Digests of texts of specifications that were given before this; some of them, others at another turn. */
  specsBefore(time: number, turn: number): Promise<readonly string[]>;
  /** Those that were given again since stay. */
  removeSpecs(digests: readonly string[], before: number): Promise<void>;
}
