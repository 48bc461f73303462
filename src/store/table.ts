import { placeholders, type Sql, type SqlRow, type SqlValue } from "./sql.ts";

/** How one field of a domain type is kept in a column. */
export interface Column<T> {
  readonly type: "TEXT" | "INTEGER";
  readonly nullable: boolean;
  encode(value: T): SqlValue;
  decode(value: SqlValue): T;
  /** The database gives the value as it is: `decode` has nothing to do. */
  readonly asStored: boolean;
}

/** A table whose columns are exactly the fields of a domain type; a test compares them with the real schema. */
export interface Table<Row> {
  readonly name: string;
  readonly columns: { readonly [Field in keyof Row]-?: Column<Row[Field]> };
  /** Quoted column list, in the order of the fields. */
  readonly list: string;
  /** The same for SELECT, each column under the name of its field. */
  readonly selection: string;
}

/** Nothing is computed before a statement needs it: a command that touches two tables must not pay for sixteen. */
export function table<Row>(name: string, columns: Table<Row>["columns"]): Table<Row> {
  let list: string | undefined;
  let selection: string | undefined;
  return {
    name,
    columns,
    get list() {
      list ??= Object.keys(columns)
        .map((field) => `"${columnName(field)}"`)
        .join(", ");
      return list;
    },
    get selection() {
      selection ??= Object.keys(columns).map(selected).join(", ");
      return selection;
    },
  };
}

function selected(field: string): string {
  const name = columnName(field);
  return name === field ? `"${name}"` : `"${name}" AS "${field}"`;
}

const plainText: Column<string> = {
  type: "TEXT",
  nullable: false,
  encode: (value) => value,
  decode: (value) => value as string,
  asStored: true,
};

/** One for all: there are hundreds of such columns, and every command makes them. */
export const text = <T extends string = string>(): Column<T> => plainText as unknown as Column<T>;

export const integer: Column<number> = {
  type: "INTEGER",
  nullable: false,
  encode: (value) => value,
  decode: (value) => value as number,
  asStored: true,
};

export const flag: Column<boolean> = {
  type: "INTEGER",
  nullable: false,
  encode: (value) => (value ? 1 : 0),
  decode: (value) => value === 1,
  asStored: false,
};

export const json = <T>(): Column<T> => ({
  type: "TEXT",
  nullable: false,
  encode: (value) => JSON.stringify(value),
  decode: (value) => JSON.parse(value as string) as T,
  asStored: false,
});

export const nullable = <T>(column: Column<T>): Column<T | null> => ({
  type: column.type,
  nullable: true,
  encode: (value) => (value === null ? null : column.encode(value)),
  decode: (value) => (value === null ? null : column.decode(value)),
  asStored: column.asStored,
});

/** `lastActivityAt` -> `last_activity_at`. */
export const columnName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

interface Entry {
  readonly field: string;
  readonly name: string;
  readonly column: Column<unknown>;
}

/** `encoded`: those whose values the database stores in another form. */
interface Entries {
  readonly all: readonly Entry[];
  readonly encoded: readonly Entry[];
}

const entriesOf = new WeakMap<object, Entries>();

function entries<Row>(from: Table<Row>): Entries {
  const known = entriesOf.get(from);
  if (known !== undefined) return known;
  const all = Object.entries<Column<unknown>>(from.columns as Record<string, Column<unknown>>).map(
    ([field, column]): Entry => ({ field, name: columnName(field), column }),
  );
  const made = { all, encoded: all.filter(({ column }) => !column.asStored) };
  entriesOf.set(from, made);
  return made;
}

export function decodeRow<Row>(from: Table<Row>, row: SqlRow): Row {
  const made: Record<string, unknown> = {};
  for (const { field, name, column } of entries(from).all) made[field] = column.decode(row[name] ?? null);
  return made as Row;
}

/**
 * Rows of one table, selected with everything after FROM. The database makes the objects, with the names of the fields.
 * Only values that are stored in another form are decoded, because a fleet has tens of thousands of values.
 */
export async function select<Row>(sql: Sql, from: Table<Row>, rest: string, ...values: SqlValue[]): Promise<Row[]> {
  const rows: Record<string, unknown>[] = await sql.all(
    `SELECT ${from.selection} FROM ${from.name} ${rest}`,
    ...values,
  );
  const { encoded } = entries(from);
  for (const row of rows) {
    for (const { field, column } of encoded) row[field] = column.decode(row[field] as SqlValue);
  }
  return rows as Row[];
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
  for (const { field, name, column } of entries(into).all) {
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
  for (const { field, name, column } of entries(to).all) {
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
