import { placeholders, type Sql, type SqlRow, type SqlValue } from "./sql.ts";

/** How one field of a domain type is kept in a column. */
export interface Column<T> {
  readonly type: "TEXT" | "INTEGER";
  readonly nullable: boolean;
  encode(value: T): SqlValue;
  decode(value: SqlValue): T;
}

/** A table whose columns are exactly the fields of a domain type; a test compares them with the real schema. */
export interface Table<Row> {
  readonly name: string;
  readonly columns: { readonly [Field in keyof Row]-?: Column<Row[Field]> };
  /** Quoted column list for SELECT, in the order of the fields. */
  readonly list: string;
}

/** Nothing is computed before a statement needs it: a command that touches two tables must not pay for sixteen. */
export function table<Row>(name: string, columns: Table<Row>["columns"]): Table<Row> {
  let list: string | undefined;
  return {
    name,
    columns,
    get list() {
      list ??= Object.keys(columns)
        .map((field) => `"${columnName(field)}"`)
        .join(", ");
      return list;
    },
  };
}

export const text = <T extends string = string>(): Column<T> => ({
  type: "TEXT",
  nullable: false,
  encode: (value) => value,
  decode: (value) => value as T,
});

export const integer: Column<number> = {
  type: "INTEGER",
  nullable: false,
  encode: (value) => value,
  decode: (value) => value as number,
};

export const flag: Column<boolean> = {
  type: "INTEGER",
  nullable: false,
  encode: (value) => (value ? 1 : 0),
  decode: (value) => value === 1,
};

export const json = <T>(): Column<T> => ({
  type: "TEXT",
  nullable: false,
  encode: (value) => JSON.stringify(value),
  decode: (value) => JSON.parse(value as string) as T,
});

export const nullable = <T>(column: Column<T>): Column<T | null> => ({
  type: column.type,
  nullable: true,
  encode: (value) => (value === null ? null : column.encode(value)),
  decode: (value) => (value === null ? null : column.decode(value)),
});

/** `lastActivityAt` -> `last_activity_at`. */
export const columnName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

interface Entry {
  readonly field: string;
  readonly name: string;
  readonly column: Column<unknown>;
}

const entriesOf = new WeakMap<object, readonly Entry[]>();

function entries<Row>(from: Table<Row>): readonly Entry[] {
  const known = entriesOf.get(from);
  if (known !== undefined) return known;
  const made = Object.entries<Column<unknown>>(from.columns as Record<string, Column<unknown>>).map(
    ([field, column]): Entry => ({ field, name: columnName(field), column }),
  );
  entriesOf.set(from, made);
  return made;
}

export function decodeRow<Row>(from: Table<Row>, row: SqlRow): Row {
  const made: Record<string, unknown> = {};
  for (const { field, name, column } of entries(from)) made[field] = column.decode(row[name] ?? null);
  return made as Row;
}

/** Rows of one table, selected with everything after FROM. */
export async function select<Row>(sql: Sql, from: Table<Row>, rest: string, ...values: SqlValue[]): Promise<Row[]> {
  const rows = await sql.all(`SELECT ${from.list} FROM ${from.name} ${rest}`, ...values);
  return rows.map((row) => decodeRow(from, row));
}

export async function selectOne<Row>(
  sql: Sql,
  from: Table<Row>,
  rest: string,
  ...values: SqlValue[]
): Promise<Row | undefined> {
  return (await select(sql, from, rest, ...values))[0];
}

/** Inserts whole rows. `conflict` is an `ON CONFLICT ...` clause. Returns how many were stored. */
export async function insert<Row>(sql: Sql, into: Table<Row>, row: Row, conflict = ""): Promise<number> {
  const { head, values } = encodeRow(into, row);
  return sql.run(`${head} ${conflict}`, ...values);
}

/** Inserts a row whose number the database chooses, and returns that number. */
export async function insertNumbered<Row extends { seq: number }>(
  sql: Sql,
  into: Table<Row>,
  row: Omit<Row, "seq">,
  conflict = "",
): Promise<number | undefined> {
  await sql.orderCommits();
  const { head, values } = encodeRow(into, row, "seq");
  const rows = await sql.all(`${head} ${conflict} RETURNING seq`, ...values);
  return rows[0]?.seq as number | undefined;
}

/** The same for rows that are known by their number and that no reader follows by cursor. */
export async function insertCounted<Row extends { id: number }>(
  sql: Sql,
  into: Table<Row>,
  row: Omit<Row, "id">,
): Promise<number> {
  const { head, values } = encodeRow(into, row, "id");
  const rows = await sql.all(`${head} RETURNING id`, ...values);
  return Number(rows[0]?.id);
}

function encodeRow<Row>(into: Table<Row>, row: unknown, without?: string): { head: string; values: SqlValue[] } {
  const names: string[] = [];
  const values: SqlValue[] = [];
  for (const { field, name, column } of entries(into)) {
    if (field === without) continue;
    names.push(`"${name}"`);
    values.push(column.encode((row as Record<string, unknown>)[field] ?? null));
  }
  const marks = names.map(() => "?").join(", ");
  return { head: `INSERT INTO ${into.name} (${names.join(", ")}) VALUES (${marks})`, values };
}

/** `SET a = ?, b = ?` for the given fields of a row. */
export function assign<Row>(to: Table<Row>, change: Partial<Row>): { set: string; values: SqlValue[] } {
  const set: string[] = [];
  const values: SqlValue[] = [];
  for (const { field, name, column } of entries(to)) {
    if (!(field in change)) continue;
    set.push(`"${name}" = ?`);
    values.push(column.encode((change as Record<string, unknown>)[field] ?? null));
  }
  return { set: set.join(", "), values };
}

/** Changes the row with this id if it has one of these statuses. False when it has not. */
export async function changeIn<Row>(
  sql: Sql,
  to: Table<Row>,
  { id, statuses }: { readonly id: SqlValue; readonly statuses: readonly string[] },
  change: Partial<Row>,
): Promise<boolean> {
  const { set, values } = assign(to, change);
  const where = `WHERE id = ? AND status IN ${placeholders(statuses.length)}`;
  return (await sql.run(`UPDATE ${to.name} SET ${set} ${where}`, ...values, id, ...statuses)) > 0;
}
