import type { Database } from "bun:sqlite";
import { chmodSync, closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import type { ProcessIdentity } from "../domain/process/process.ts";
import type { DatabaseCopies, DatabaseFiles, DatabaseMove, Rebinding } from "../ports/database-files.ts";
import { databaseHealth } from "./database-health.ts";
import { openDatabase } from "./open-files.ts";
import { summedAnew } from "./spending.ts";
import { openSqlite, withDatabase } from "./sqlite.ts";

/** A version above every schema version: no program takes a database that was left behind for the current one. */
const leftBehind = 1_000_000_000;

/** Every column that holds a path of the project. `test/relocate.test.ts` finds out when one is missing here. */
export const pathColumns = [
  ["agents", "worktree_path"],
  ["agents", "spec_path"],
  ["agents", "env_file"],
  ["turns", "log_dir"],
  ["merge_attempts", "log_dir"],
  ["gate_results", "log_path"],
  ["messages", "blob_path"],
  ["specs", "path"],
] as const;

/** The database of SQLite as the file that it is. */
export const databaseFiles: DatabaseFiles = {
  projectIdIn,
  openProcessesIn,
  rebindPaths,
  detachCopy,
  moveDatabase,
  wasMoved: (path) => existsSync(path) && withDatabase(path, isLeftBehind),
};

/** The id in the database; `fresh` becomes it when there is none yet. Brings an older database up to date first. */
async function projectIdIn(path: string, fresh: string, now: number): Promise<string> {
  await openSqlite({ path, life: "command" }).close();
  return withDatabase(path, (db) => {
    const known = () => db.query<{ id: string }, []>("SELECT id FROM project").get()?.id;
    const before = known();
    if (before !== undefined) return before;
    db.query("INSERT OR IGNORE INTO project (one, id, created_at) VALUES (1, ?, ?)").run(fresh, now);
    return known() ?? fresh;
  });
}

/** Processes that the database knows and that have not ended as far as it knows. */
function openProcessesIn(path: string): readonly (ProcessIdentity & { readonly role: string })[] {
  return withDatabase(path, (db) =>
    db
      .query<ProcessIdentity & { role: string }, []>(
        "SELECT role, pid, start_token AS startToken, boot_id AS bootId FROM processes WHERE ended_at IS NULL",
      )
      .all(),
  );
}

/** Writes every path of the project as it is now. In one transaction; repeating it changes nothing. */
export function rebindPaths(path: string, rebinding: Rebinding): void {
  withDatabase(path, (db) => db.transaction(() => rebind(db, rebinding)).immediate());
}

/** As `rebindPaths`, for a copy: it has an id of its own, and no process, token or lease of the original is its own. */
function detachCopy(path: string, rebinding: Rebinding & { readonly id: string; readonly now: number }): void {
  const { id, now } = rebinding;
  withDatabase(path, (db) =>
    db
      .transaction(() => {
        rebind(db, rebinding);
        db.query("UPDATE project SET id = ?").run(id);
        db.query("UPDATE processes SET ended_at = ?, end_reason = 'copied' WHERE ended_at IS NULL").run(now);
        db.query("UPDATE tokens SET revoked_at = ? WHERE revoked_at IS NULL").run(now);
        db.run("DELETE FROM leases");
        db.run("DELETE FROM removals");
      })
      .immediate(),
  );
}

function rebind(db: Database, { moved, identityOf }: Rebinding): void {
  for (const [table, column] of pathColumns) {
    // A path is changed by the first that holds it, so that none is taken for another.
    const cases = moved.map(
      () => `WHEN substr(${column} || '/', 1, length(?) + 1) = ? || '/' THEN ? || substr(${column}, length(?) + 1)`,
    );
    const values = moved.flatMap(({ from, to }) => [from, from, to, from]);
    db.query(
      `UPDATE ${table} SET ${column} = CASE ${cases.join(" ")} ELSE ${column} END WHERE ${column} IS NOT NULL`,
    ).run(...values);
  }
  for (const { from, to } of moved) {
    // Part of a JSON text: what a person typed a check with lies in a file of the state directory.
    db.query("UPDATE checks SET request = replace(request, ?, ?)").run(quoted(from), quoted(to));
  }
  const seats = db.query<{ id: string; path: string }, []>(
    "SELECT id, worktree_path AS path FROM agents WHERE worktree_path IS NOT NULL AND worktree_identity IS NOT NULL",
  );
  for (const { id, path } of seats.all()) {
    const identity = identityOf(path);
    if (identity !== undefined) db.query("UPDATE agents SET worktree_identity = ? WHERE id = ?").run(identity, id);
  }
}

/** How a path below a directory begins in a JSON text. */
const quoted = (dir: string): string => JSON.stringify(`${dir}/`).slice(0, -1);

/**
 * Moves a database to a new file, with all that was committed, whatever others do with it meanwhile. While the old one is
 * held against writers, a copy is made and put in its place, and the last commit of the old one says that it was left
 * behind: writers that still have it open fail instead of writing into the void. Whenever this is cut short, either the
 * old one counts and the copy is made again, or the new one counts.
 */
function moveDatabase({ from, to, copied, ...rebinding }: DatabaseMove): void {
  withDatabase(from, (db) => {
    db.run("BEGIN IMMEDIATE");
    try {
      if (isLeftBehind(db)) {
        db.run("ROLLBACK");
        return;
      }
      copyAside(from, `${to}.moving`, rebinding);
      for (const end of ["-wal", "-shm", "-journal"]) rmSync(to + end, { force: true });
      renameSync(`${to}.moving`, to);
      syncPath(dirname(to));
      copied();
      db.run("ALTER TABLE agents RENAME TO agents_are_in_ov_state");
      db.run(`PRAGMA user_version = ${leftBehind}`);
      db.run("COMMIT");
    } catch (error) {
      if (db.inTransaction) db.run("ROLLBACK");
      throw error;
    }
  });
}

const isLeftBehind = (db: Database): boolean =>
  db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version === leftBehind;

function copyAside(from: string, draft: string, rebinding: Rebinding): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(draft + end, { force: true });
  const reader = openDatabase(from, "read");
  try {
    reader.query("VACUUM INTO ?").run(draft);
  } finally {
    reader.close();
  }
  chmodSync(draft, 0o600);
  withDatabase(draft, (db) => {
    db.transaction(() => rebind(db, rebinding))();
    db.run("PRAGMA journal_mode = WAL");
  });
  syncPath(draft);
}

function syncPath(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Copies of a database of SQLite. */
export const databaseCopies: DatabaseCopies = {
  isRuined: (path) => databaseHealth(path).isRuined,
  copyDatabase,
  shrinkDatabase,
  restoreDatabase,
  restoreWhole,
};

/** Writes a complete copy of the database to a new file, as one consistent moment, while others go on using it. */
function copyDatabase(path: string, to: string): void {
  const db = openDatabase(path, "read");
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
  const db = openDatabase(path, "write");
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

/** More than a tenth of the file, and more than a few runs fill again. */
const [sparseShare, sparseBytes] = [0.1, 1024 * 1024] as const;
/** Rewriting takes about ten milliseconds for each megabyte, and the engine answers no call meanwhile. */
const mostRewritten = 128 * 1024 * 1024;

/** The same for an engine: only if much is free, and little enough is left to be rewritten in a moment. */
export function shrinkSparseDatabase(path: string): void {
  const db = openDatabase(path, "read");
  const pragma = (name: string): number =>
    Number(db.query<Record<string, number>, []>(`PRAGMA ${name}`).values()[0]?.[0]);
  const [pages, free, size] = [pragma("page_count"), pragma("freelist_count"), pragma("page_size")];
  db.close();
  const isSparse = free > pages * sparseShare && free * size >= sparseBytes;
  if (isSparse && (pages - free) * size <= mostRewritten) shrinkDatabase(path);
}

/** Tables that a person may empty on purpose; parents before children. */
const restorable = ["messages", "deliveries", "usage", "spending", "events"] as const;

/**
 * Puts back rows of the backup that are missing now. Newer rows stay as they are, so restoring never loses anything.
 * Returns the number of restored rows.
 */
function restoreDatabase(path: string, from: string): number {
  let isAttached = false;
  return withDatabase(path, (db) => {
    if (!isAttached) db.query("ATTACH DATABASE ? AS old").run(from);
    isAttached = true;
    db.run("PRAGMA foreign_keys = ON");
    return db
      .transaction(() => {
        const rows = restorable.reduce((sum, table) => sum + restoreTable(db, table), 0);
        for (const statement of summedAnew()) db.run(statement);
        return rows;
      })
      .immediate();
  });
}

/** Puts the whole copy in the place of a database that is gone. Answers how many rows of the same tables it has. */
function restoreWhole(path: string, from: string): number {
  for (const end of ["-wal", "-shm", "-journal"]) rmSync(path + end, { force: true });
  copyFileSync(from, `${path}.restoring`);
  chmodSync(`${path}.restoring`, 0o600);
  renameSync(`${path}.restoring`, path);
  const db = openDatabase(path, "write");
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
