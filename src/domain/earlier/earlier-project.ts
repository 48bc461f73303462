/**
 * The parts of a project of version 0.11 and of the trackers that it used, in the order in which they are taken over:
 * later parts refer to earlier ones. The value names the file and the table, for people and for the record of the import.
 */
export const earlierParts = {
  runs: "sessions.db runs",
  agents: "sessions.db sessions",
  identities: "agents/*/identity.yaml",
  checkpoints: "agents/*/checkpoint.json",
  seeds: ".seeds/issues.jsonl",
  beads: ".beads/*.jsonl",
  groups: "groups.json",
  messages: "mail.db messages",
  merges: "merge-queue.db merge_queue",
  spending: "metrics.db sessions",
  snapshots: "metrics.db token_snapshots",
  events: "events.db events",
} as const;

export type EarlierPart = keyof typeof earlierParts;

export const earlierPartNames = Object.keys(earlierParts) as readonly EarlierPart[];

/**
 * Parts that are files which people edit. Each import looks at all of their rows, because a line may have been mended since;
 * a row that is ours already is known by its id or name.
 */
export const editedParts: readonly EarlierPart[] = ["identities", "checkpoints", "seeds", "beads", "groups"];

/** Values of a row as its file has them, by the name of the column. */
export type EarlierValues = Readonly<Record<string, unknown>>;

/** One row of a table, one file, one line or one item of a list. */
export interface EarlierRow {
  /** Its number in the part; rows come in the order of their numbers. */
  readonly row: number;
  /** The file, and for lines the number of the line, as a person would name it. */
  readonly where: string;
  /** Absent when it cannot be read at all; `problem` says why. */
  readonly values?: EarlierValues;
  readonly problem?: string;
}

/** A row that was not taken over, or not as it was. `problem` completes the sentence "`<where>` ...". */
export interface RowProblem {
  readonly where: string;
  readonly problem: string;
}

/** What of an earlier project still runs, in words, and the command that ends it. */
export interface EarlierProcess {
  readonly what: string;
  readonly end: string;
}

/** Why an earlier project is not taken over; nothing was changed. */
export interface NotImportable {
  readonly kind: "not-importable";
  readonly why: string;
  readonly next: string;
}
