/** A log below a directory, by its path from there without the ending: `1-train/2-test`. */
export interface GateLogFile {
  readonly name: string;
  readonly startedAt: number;
}

export interface GateLogPart {
  readonly text: string;
  /** Where the part ends in the file, in bytes. */
  readonly end: number;
}

/** The output of gates: of those that run now, and the part of it that is kept. */
export interface GateLogs {
  /** The logs of all checks below a directory. Empty where the directory is gone. */
  list(dir: string): Promise<readonly GateLogFile[]>;
  /**
   * What comes after so many bytes, in parts that end with a line. While the gate runs, a line without its end is left for
   * the next reading. Undefined when the log is gone.
   */
  read(path: string, from: number, isRunning: boolean): Promise<readonly GateLogPart[] | undefined>;
}
