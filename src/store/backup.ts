import { Database } from "bun:sqlite";
import { chmodSync, copyFileSync, renameSync, rmSync } from "node:fs";
import type { DatabaseCopies } from "../ports/database-files.ts";
import { withDatabase } from "./sqlite.ts";

/** Copies of a database of SQLite. */
export const databaseCopies: DatabaseCopies = { copyDatabase, shrinkDatabase, restoreDatabase, restoreWhole };

/** Writes a complete copy of the database to a new file, as one consistent moment, while others go on using it. */
function copyDatabase(path: string, to: string): void {
  const db = new Database(path, { readonly: true });
  try {
    db.run(`PRAGMA busy_timeout = ${patienceMs}`);
    db.query("VACUUM INTO ?").run(to);
  } finally {
    db.close();
  }
}

const patienceMs = 10_000;

/** Gives the space of deleted rows back to the disk. Nothing when others use the database all the time. */
function shrinkDatabase(path: string): void {
  const db = new Database(path, { readwrite: true });
  try {
    db.run(`PRAGMA busy_timeout = ${shrinkPatienceMs}`);
    db.run("VACUUM");
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch (error) {
    // The space is used again by later rows, so another time is soon enough.
    if (!(error instanceof Error && "code" in error && String(error.code).startsWith("SQLITE_BUSY"))) throw error;
  } finally {
    db.close();
  }
}

const shrinkPatienceMs = 500;

/** Tables that a person may empty on purpose; parents before children. */
const restorable = ["messages", "deliveries", "usage"] as const;

/**
 * Puts back rows of the copy that are missing now. What was written since stays as it is, so restoring never loses
 * anything. Answers how many rows came back.
 */
function restoreDatabase(path: string, from: string): number {
  let isAttached = false;
  return withDatabase(path, (db) => {
    if (!isAttached) db.query("ATTACH DATABASE ? AS old").run(from);
    isAttached = true;
    db.run("PRAGMA foreign_keys = ON");
    return db.transaction(() => restorable.reduce((sum, table) => sum + restoreTable(db, table), 0)).immediate();
  });
}

/** Puts the whole copy in the place of a database that is gone. Answers how many rows of the same tables it has. */
function restoreWhole(path: string, from: string): number {
  for (const end of ["-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
  copyFileSync(from, `${path}.restoring`);
  chmodSync(`${path}.restoring`, 0o600);
  renameSync(`${path}.restoring`, path);
  const db = new Database(path, { readwrite: true });
  try {
    // Copies are made without a log; without one, readers and writers would hold each other up.
    db.run("PRAGMA journal_mode = WAL");
    const rows = (table: string): number =>
      db.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? 0;
    return restorable.reduce((sum, table) => sum + rows(table), 0);
  } finally {
    db.close();
  }
}

/** By the columns the copy has: it may be of an older version. */
function restoreTable(db: Database, table: string): number {
  const columns = db
    .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}', 'old')`)
    .all()
    .map(({ name }) => `"${name}"`)
    .join(", ");
  if (columns === "") return 0;
  return db.run(`INSERT OR IGNORE INTO main.${table} (${columns}) SELECT ${columns} FROM old.${table}`).changes;
}
