/** How far one part of an earlier project was taken over. */
export interface ImportRecord {
  /** The file, and the table in it: "mail.db messages". */
  readonly source: string;
  /** The number of the last row that was looked at. */
  readonly place: number;
  /** Rows of it that are in our tables, over all imports. */
  readonly taken: number;
  readonly updatedAt: number;
}

/** What `ov import` has done: one row for each part of an earlier project. */
export interface ImportRows {
  get(source: string): Promise<ImportRecord | undefined>;
  /** Inserts it, or replaces the one of its source. */
  put(record: ImportRecord): Promise<void>;
  /** By source. */
  list(): Promise<ImportRecord[]>;
}
