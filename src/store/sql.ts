/** A value as both databases take it. Booleans are 0 and 1, JSON is text, times are integer milliseconds. */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/**
 * One connection inside one transaction. Statements are written in the subset that SQLite and PostgreSQL share, with
 * `?` for values. Integers arrive as numbers.
 */
export interface Sql {
  readonly dialect: "sqlite" | "postgres";
  all(text: string, ...values: SqlValue[]): Promise<SqlRow[]>;
  /** Returns how many rows changed. */
  run(text: string, ...values: SqlValue[]): Promise<number>;
  /**
   * Called before numbering a row that cursor readers follow. From here to the commit no other transaction can take a
   * number, so numbers become visible in order.
   */
  orderCommits(): Promise<void>;
}

/** `('a', 'b')` for a list of our own words, so that statements and rules name the same ones. */
export const literals = (words: readonly string[]): string => `(${words.map((word) => `'${word}'`).join(", ")})`;

/** Conditions of a statement, collected one by one. */
export function conditionList() {
  const parts: string[] = [];
  const values: SqlValue[] = [];
  return {
    add: (part: string, ...given: readonly SqlValue[]): void => {
      parts.push(part);
      values.push(...given);
    },
    /** Nothing, where no value is asked for. */
    equal: (column: string, value: string | undefined): void => {
      if (value === undefined) return;
      parts.push(`${column} = ?`);
      values.push(value);
    },
    all: () => ({ where: parts.length === 0 ? "" : `WHERE ${parts.join(" AND ")}`, values }),
  };
}

/** `(?, ?, ?)` for a list of values. An empty list matches nothing; PostgreSQL has no `IN ()`. */
export const placeholders = (count: number): string => (count === 0 ? "(NULL)" : `(?${", ?".repeat(count - 1)})`);
