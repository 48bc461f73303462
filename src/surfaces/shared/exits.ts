/** The exit codes of `ov` for scripts. They are part of the public interface: numbers never change meaning. */
export const exits = {
  /** The command did its work. */
  ok: 0,
  /** A defect or an unforeseen condition. */
  unexpected: 1,
  /** The command line, or a value in it, cannot be used. */
  usage: 2,
  /** The project is not set up, or its settings or store cannot be used. */
  setup: 3,
  /** A merge met a conflict or failed. */
  merge: 4,
  /** A quality gate or a check said no. */
  check: 5,
  /** Something is held, full or slow right now, or waits for a person's word; the same command may work later. */
  busy: 6,
  /** The named object does not exist. */
  notFound: 7,
  /** The caller may not do this. */
  permission: 8,
  /** A coding-agent CLI or its provider failed. */
  upstream: 9,
  /** The command was carried out, but its answer could not be written. */
  unwritten: 10,
  /** A limit of time was reached. */
  timeout: 124,
  /** Interrupted from the keyboard. */
  interrupted: 130,
} as const;

export type Exit = (typeof exits)[keyof typeof exits];

/** One line per exit code, for help and the docs page; complete by construction. */
export const exitMeanings: Readonly<Record<Exit, string>> = {
  0: "success",
  1: "unexpected failure",
  2: "wrong usage or an invalid value",
  3: "project not initialised, or its settings or store cannot be used",
  4: "merge conflict or failed merge",
  5: "a quality gate or check failed",
  6: "busy: held, full, locked or waiting for approval; may be retried",
  7: "not found",
  8: "permission denied",
  9: "a coding-agent runtime or its provider failed",
  10: "done, but the answer could not be written",
  124: "timed out",
  130: "interrupted",
};
