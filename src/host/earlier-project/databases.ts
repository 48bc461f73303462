import { Database } from "bun:sqlite";
import { constants, copyFileSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { EarlierPart, EarlierRow } from "../../domain/earlier/earlier-project.ts";

/** A table of an earlier database, and the columns without which it is of another program or version. */
export interface EarlierTable {
  readonly part: EarlierPart;
  readonly file: string;
  readonly table: string;
  readonly columns: readonly string[];
}

export const earlierTables: readonly EarlierTable[] = [
  { part: "runs", file: "sessions.db", table: "runs", columns: ["id", "started_at", "completed_at", "status"] },
  {
    part: "agents",
    file: "sessions.db",
    table: "sessions",
    columns: ["id", "agent_name", "capability", "worktree_path", "branch_name", "state", "started_at", "run_id"],
  },
  {
    part: "messages",
    file: "mail.db",
    table: "messages",
    columns: ["id", "from_agent", "to_agent", "subject", "body", "type", "priority", "thread_id", "read", "created_at"],
  },
  {
    part: "merges",
    file: "merge-queue.db",
    table: "merge_queue",
    columns: ["id", "branch_name", "agent_name", "files_modified", "enqueued_at", "status", "resolved_tier"],
  },
  { part: "spending", file: "metrics.db", table: "sessions", columns: ["agent_name", "capability", "started_at"] },
  { part: "snapshots", file: "metrics.db", table: "token_snapshots", columns: ["id", "agent_name", "created_at"] },
  {
    part: "events",
    file: "events.db",
    table: "events",
    columns: ["id", "agent_name", "event_type", "level", "data", "created_at"],
  },
];

export const earlierDatabases: readonly string[] = [...new Set(earlierTables.map(({ file }) => file))];

/** Copies a database with its log, and opens the copy: opening the file itself would write beside it. */
export function openCopy(dir: string, scratch: string, file: string): Database {
  for (const suffix of ["", "-wal"]) {
    const from = join(dir, file + suffix);
    if (existsSync(from) && statSync(from).size > 0) {
      copyFileSync(from, join(scratch, file + suffix), constants.COPYFILE_FICLONE);
    }
  }
  return new Database(join(scratch, file), { create: true, readwrite: true });
}

/** Why this is no database of version 0.11; undefined when it is. A table that was never made is no fault. */
export function shapeProblem(database: Database, file: string): string | undefined {
  try {
    const version = (database.query("PRAGMA user_version").get() as { user_version: number }).user_version;
    if (version !== 0) return `${file} has the schema version ${version}, which version 0.11 never had`;
    const damage = (database.query("PRAGMA quick_check(1)").get() as { quick_check: string }).quick_check;
    if (damage !== "ok") return `${file} is damaged (${damage})`;
    for (const { table, columns } of earlierTables.filter((one) => one.file === file)) {
      const there = columnsOf(database, table);
      const missing = there.length === 0 ? [] : columns.filter((column) => !there.includes(column));
      if (missing.length > 0) return `${file} has no column ${missing.join(", ")} in its table ${table}`;
    }
    const known = earlierTables
      .filter((one) => one.file === file)
      .some(({ table }) => columnsOf(database, table).length > 0);
    const tables = database.query("SELECT count(*) AS n FROM sqlite_master WHERE type = 'table'").get() as {
      n: number;
    };
    return known || tables.n === 0 ? undefined : `${file} has tables that version 0.11 never had`;
  } catch (error) {
    return `${file} cannot be read (${error instanceof Error ? error.message : String(error)})`;
  }
}

const columnsOf = (database: Database, table: string): readonly string[] =>
  (database.query(`PRAGMA table_info("${table}")`).all() as { name: string }[]).map(({ name }) => name);

export interface TableRows {
  count(place: number): number;
  after(place: number, limit: number): readonly EarlierRow[];
}

/** The rows of one table by SQLite's own number; undefined when it was never made. */
export function rowsOf(database: Database, { file, table }: EarlierTable): TableRows | undefined {
  if (columnsOf(database, table).length === 0) return undefined;
  const counted = database.query(`SELECT count(*) AS n FROM "${table}" WHERE rowid > ?`);
  const listed = database.query(`SELECT rowid AS "!row", * FROM "${table}" WHERE rowid > ? ORDER BY rowid LIMIT ?`);
  return {
    count: (place) => (counted.get(place) as { n: number }).n,
    after: (place, limit) =>
      (listed.all(place, limit) as Record<string, unknown>[]).map(({ "!row": row, ...values }) => ({
        row: Number(row),
        where: `${file} ${table} row ${row}`,
        values,
      })),
  };
}
