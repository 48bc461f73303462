import type { Database, SQLQueryBindings, Statement } from "bun:sqlite";
import { accessSync, closeSync, constants, existsSync, openSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Failure } from "../domain/failure.ts";
import type { Store, Tx } from "../ports/store.ts";
import { schemaVersion, statementsFrom } from "./migrations/migrations.ts";
import { filesOf, leaveOpen, type OpenFiles, openDatabase, replaced } from "./open-files.ts";
import type { Sql, SqlRow, SqlValue } from "./sql.ts";
import { runUnit } from "./unit.ts";

export interface SqliteOptions {
  readonly path: string;
  /**
   * `command`: lives for milliseconds and may block while it waits for the writer before it. `process`: serves others
   * meanwhile, so it waits without blocking (a blocked wait freezes the whole event loop).
   */
  readonly life: "command" | "process";
  readonly readOnly?: boolean;
  /** The database must exist: if it was deleted a moment ago, no empty one is made in its place. */
  readonly mustExist?: boolean;
  /** The caller asks for the change counter when files beside the database are deleted. Else the store looks itself. */
  readonly isWatched?: boolean;
}

/** The path of a database in memory, which is gone when it is closed. */
export const inMemory = ":memory:";

/** How long a writer waits for the database before it gives up with `store-busy`. */
const patienceMs = 10_000;
const processBusyMs = 20;
/**
 * The longest pause between two tries, by how long one has waited. Writers hold the database for a few milliseconds, so
 * it is asked for again soon; SQLite's own waiting would come long after it was free. Where that was not enough there
 * are many, and asking takes from all of them the time that the holder needs. A writer that has waited for seconds was
 * unlucky, and is one of few: it may press.
 */
const longestPauses = [
  { untilMs: 150, pauseMs: 12 },
  { untilMs: 2_500, pauseMs: 100 },
  { untilMs: Number.POSITIVE_INFINITY, pauseMs: 6 },
] as const;

type Mode = "write" | "read";

/** Touches no table, but takes the snapshot that everything after it is read from. */
const firstLook = "PRAGMA user_version";

/** How often a store that is not used looks whether the files beside its database are still there. */
const lookMs = 1_000;

/** Opens the embedded database, creating or migrating it first when needed. */
export function openSqlite(options: SqliteOptions): Store {
  const { path } = options;
  let current: Connection | undefined = translate(path, () => connection(options));
  const sql = sqliteSql({ of: (text) => inUse().statements.of(text) });
  let queue: Promise<unknown> = Promise.resolve();

  /** The connection, with the files beside the database that other processes use too. */
  const inUse = (): Connection => {
    current ??= connection({ ...options, mustExist: true, isAgain: true });
    return current;
  };

  /** Lets go of deleted files, so that others may make new ones. All that was committed is kept. */
  const look = (): void => {
    const standing = current?.files.standing() ?? "ours";
    if (standing === "replaced") throw replaced(path);
    if (standing === "ours" || current === undefined) return;
    if (options.readOnly !== true && current.files.logIsDeleted()) current.db.run("PRAGMA wal_checkpoint(PASSIVE)");
    close(current);
    current = undefined;
  };

  const untilFree = async <T>(action: () => T): Promise<T> => {
    const began = performance.now();
    for (let tries = 1; ; tries++) {
      try {
        return action();
      } catch (error) {
        if (!mayPass(error) || performance.now() - began > patienceMs) throw error;
      }
      const pause = pauseAfter(tries, performance.now() - began);
      if (options.life === "command") Bun.sleepSync(pause);
      else await new Promise((resolve) => setTimeout(resolve, pause));
    }
  };

  const begin = (mode: Mode) => (): Database => {
    look();
    const { db, statements } = inUse();
    db.run(`PRAGMA query_only = ${mode === "read" ? 1 : 0}`);
    if (options.life === "command") db.run(`PRAGMA busy_timeout = ${mode === "read" ? patienceMs : 0}`);
    db.run(mode === "read" ? "BEGIN" : "BEGIN IMMEDIATE");
    if (mode === "write" || options.life === "command") return db;
    try {
      // A reader meets a process that recovers the log after a kill only at its first look; no later statement waits
      // for that.
      statements.of(firstLook).get();
    } catch (error) {
      db.run("ROLLBACK");
      throw error;
    }
    return db;
  };

  let isClosed = false;
  const next = <T>(work: () => Promise<T>): Promise<T> => {
    // A late user would take the files of the process's next store for those of another program, and end the process.
    if (isClosed) return Promise.reject(new Error(`the store of ${path} was closed`));
    const turn = queue.then(() => translateAsync(path, work));
    // The queue only orders; each caller handles its own failure.
    queue = turn.then(ignore, ignore);
    return turn;
  };

  const unit = <T>(mode: Mode, work: (tx: Tx) => Promise<T>): Promise<T> =>
    next(async () => {
      const db = await untilFree(begin(mode));
      try {
        const value = await runUnit(sql, work);
        // Where files were only deleted, others wait for this process, and its commit is kept.
        if (mode === "write" && inUse().files.standing() === "replaced") throw replaced(path);
        db.run("COMMIT");
        return value;
      } catch (error) {
        if (db.inTransaction) db.run("ROLLBACK");
        throw error;
      }
    });

  const looking =
    options.isWatched === true || path === inMemory ? undefined : setInterval(() => void glance(), lookMs);
  looking?.unref();
  // A failure here is not reported: the next user of the store meets it too, and is told.
  const glance = (): Promise<void> => next(async () => look()).catch(ignore);

  return {
    transaction: (work) => unit("write", work),
    read: (work) => unit("read", work),
    changeCounter: () =>
      next(async () => {
        const row = await untilFree(() => {
          look();
          return inUse().db.query<{ data_version: number }, []>("PRAGMA data_version").get();
        });
        return row?.data_version ?? 0;
      }),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      clearInterval(looking);
      await queue;
      if (current === undefined) return;
      if (current.files.standing() === "replaced") leaveOpen();
      else close(current);
    },
  };
}

interface Connection {
  readonly db: Database;
  readonly statements: Statements;
  readonly files: OpenFiles;
}

function connection(options: ConnectOptions): Connection {
  const db = connect(options);
  return { db, statements: preparedOn(db), files: filesOf(options.path) };
}

function close({ db, statements }: Connection): void {
  statements.finish();
  db.close();
}

const ignore = (): void => {};

/** Longer with each try, as far as that is allowed by now, and never the same for all. */
function pauseAfter(tries: number, waitedMs: number): number {
  const longest = longestPauses.find(({ untilMs }) => waitedMs < untilMs)?.pauseMs ?? 1;
  return Math.min(1.3 ** (tries - 1), longest) * (0.5 + Math.random());
}

interface ConnectOptions extends SqliteOptions {
  /** The caller itself waits until other processes have let go of deleted files. */
  readonly isAgain?: boolean;
}

function connect(options: ConnectOptions): Database {
  const readOnly = options.readOnly === true;
  if (options.mustExist === true && !existsSync(options.path))
    throw new Failure({ kind: "store-lost", path: options.path, backup: null });
  // A clone of the repository brings the configuration but no database.
  if (readOnly && !existsSync(options.path)) connect({ path: options.path, life: options.life }).close();
  if (!readOnly && options.path !== inMemory && !existsSync(options.path)) makePrivate(options.path);
  const access = readOnly ? "read" : options.mustExist === true ? "write" : "create";
  let version = 0;
  const use = (db: Database): void => {
    // Before anything else: with the timeout unset, two processes that open at the same instant fail.
    db.run(`PRAGMA busy_timeout = ${patienceMs}`);
    version = versionOf(db);
  };
  const db = openDatabase(options.path, access, { waits: options.isAgain !== true, use });
  try {
    if (!readOnly) db.run("PRAGMA synchronous = NORMAL");
    db.run("PRAGMA foreign_keys = ON");
    if (version > schemaVersion)
      throw new Failure({ kind: "store-too-new", path: options.path, found: version, known: schemaVersion });
    if (version < schemaVersion) {
      if (readOnly) return migrateThenReopen(db, options);
      bringUpToDate(db);
    }
    if (options.life === "process") db.run(`PRAGMA busy_timeout = ${processBusyMs}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** For its owner alone, before anything is in it. SQLite gives its log and index files the same rights. */
function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, "a", 0o600));
  } catch {
    // Where no file can be made, SQLite says so in words that are translated.
  }
}

/** A reader that finds an older schema brings it up to date once, as a writer would. */
function migrateThenReopen(db: Database, options: SqliteOptions): Database {
  db.close();
  connect({ path: options.path, life: options.life, mustExist: true }).close();
  return connect(options);
}

/**
 * SQLite's own waiting does not cover the switch of the journal mode. If many processes open the same new file, one of
 * them switches it.
 */
function bringUpToDate(db: Database): void {
  whenFree(db, () => {
    if (versionOf(db) < schemaVersion) migrate(db);
  });
  db.run(`PRAGMA busy_timeout = ${patienceMs}`);
}

/**
 * Does the work as soon as no other process holds the database. A try that finds the database held must have changed
 * nothing, and starts again from the beginning. The pauses are those of commands that write: SQLite's own, longer
 * pauses would let those go first.
 */
function whenFree<T>(db: Database, work: () => T): T {
  db.run("PRAGMA busy_timeout = 0");
  const began = performance.now();
  for (let tries = 1; ; tries++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(codeOf(error)) || performance.now() - began > patienceMs) throw error;
    }
    Bun.sleepSync(pauseAfter(tries, performance.now() - began));
  }
}

/**
 * Works on the file of an existing database without a store, with the pauses of `whenFree` and the failures of a store.
 */
export function withDatabase<T>(path: string, work: (db: Database) => T): T {
  return translate(path, () => {
    const db = openDatabase(path, "write");
    try {
      return whenFree(db, () => work(db));
    } finally {
      db.close();
    }
  });
}

function migrate(db: Database): void {
  db.run("PRAGMA journal_mode = WAL");
  db.run("BEGIN EXCLUSIVE");
  try {
    for (const statement of statementsFrom(versionOf(db), "sqlite")) db.run(statement);
    db.run(`PRAGMA user_version = ${schemaVersion}`);
    db.run("COMMIT");
  } catch (error) {
    db.run("ROLLBACK");
    throw error;
  }
}

function versionOf(db: Database): number {
  return db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

function sqliteSql(statements: Pick<Statements, "of">): Sql {
  return {
    dialect: "sqlite",
    all: async (text: string, ...values: SqlValue[]) => statements.of(text).all(...values),
    run: async (text: string, ...values: SqlValue[]) => statements.of(text).run(...values).changes,
    // One writer at a time: numbers are already taken in the order of commits.
    orderCommits: async () => {},
  };
}

interface Statements {
  of(text: string): Statement<SqlRow, SQLQueryBindings[]>;
  finish(): void;
}

/** Every statement is prepared once: Bun's own memory holds twenty, and an engine uses more in each round. */
function preparedOn(db: Database): Statements {
  const known = new Map<string, Statement<SqlRow, SQLQueryBindings[]>>();
  return {
    of: (text) => {
      const found = known.get(text);
      if (found !== undefined) return found;
      const made = db.prepare<SqlRow, SQLQueryBindings[]>(text);
      known.set(text, made);
      return made;
    },
    finish: () => {
      for (const statement of known.values()) statement.finalize();
      known.clear();
    },
  };
}

function translate<T>(path: string, action: () => T): T {
  const began = performance.now();
  try {
    return action();
  } catch (error) {
    throw translated(path, began, error);
  }
}

async function translateAsync<T>(path: string, action: () => Promise<T>): Promise<T> {
  const began = performance.now();
  try {
    return await action();
  } catch (error) {
    throw translated(path, began, error);
  }
}

/** An error of SQLite as a failure of ours, where we know it. */
export function translated(path: string, began: number, error: unknown): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const cause = { cause: error };
  if (code === "SQLITE_NOTADB" || code.startsWith("SQLITE_CORRUPT"))
    return new Failure({ kind: "store-corrupt", path, problem: messageOf(error), backup: backupOf(path) }, cause);
  if (code.startsWith("SQLITE_READONLY") || code.startsWith("SQLITE_CANTOPEN")) {
    return new Failure({ kind: "store-read-only", path, ...(isOnReadOnlyDisk(path) ? { of: "disk" } : {}) }, cause);
  }
  if (isFull(code)) return new Failure({ kind: "disk-full", path }, cause);
  const waitedMs = Math.round(performance.now() - began);
  if (isBusy(code)) return new Failure({ kind: "store-busy", path, waitedMs }, cause);
  return error;
}

/** Backups are directories beside the database, each with its copy, plain or packed. */
function backupOf(path: string): string | null {
  const all = join(dirname(path), "backups");
  const copies = [basename(path), `${basename(path)}.gz`];
  const names = existsSync(all) ? readdirSync(all) : [];
  return names.some((name) => copies.some((copy) => existsSync(join(all, name, copy)))) ? "newest" : null;
}

function isOnReadOnlyDisk(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EROFS";
  }
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return undefined;
  return error.code.startsWith("SQLITE_") ? error.code : undefined;
}

/** Where the shared index of the log cannot grow, SQLite has another code for the same trouble. */
const isFull = (code: string): boolean => code === "SQLITE_FULL" || code === "SQLITE_IOERR_SHMSIZE";

/** Another process holds the database, or uses deleted files of it. */
const mayPass = (error: unknown): boolean =>
  isBusy(codeOf(error)) ||
  (error instanceof Failure && error.data.kind === "store-index-lost" && error.data.holders.length > 0);

const isBusy = (code: string | undefined): boolean => code !== undefined && /^SQLITE_(BUSY|LOCKED)/.test(code);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
