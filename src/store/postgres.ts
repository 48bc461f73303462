import { SQL, type TransactionSQL } from "bun";
import { Failure } from "../domain/failure.ts";
import type { Store, Tx } from "../ports/store.ts";
import { schemaVersion, statementsFrom } from "./migrations/migrations.ts";
import type { Sql, SqlRow, SqlValue } from "./sql.ts";
import { runUnit } from "./unit.ts";

export interface PostgresOptions {
  readonly url: string;
}

const maxConnections = 4;

/**
 * Opens a PostgreSQL database, creating or migrating its schema first when needed. Units of work run in parallel on a
 * few connections, each SERIALIZABLE and repeated on a conflict.
 */
export async function openPostgres({ url }: PostgresOptions): Promise<Store> {
  const place = placeOf(url);
  const db = connect(url);
  try {
    await ensureSchema(db, place);
  } catch (error) {
    await db.close({ timeout: 0 });
    throw translated(place, error);
  }
  const running = new Set<Promise<unknown>>();

  const unit = async <T>(mode: Mode, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const result = repeated(place, (attempt) => once(db, mode, attempt, work));
    running.add(result);
    try {
      return await result;
    } catch (error) {
      throw translated(place, error);
    } finally {
      running.delete(result);
    }
  };

  return {
    transaction: (work) => unit("write", work),
    read: (work) => unit("read", work),
    changeCounter: () => changeCounter(db, place),
    close: async () => {
      await Promise.allSettled(running);
      await db.close();
    },
  };
}

function connect(url: string): SQL {
  // Given apart from the URL because PGDATABASE in the environment would outrank what the URL says.
  const database = decodeURIComponent(new URL(url).pathname.slice(1));
  return new SQL({
    url,
    ...(database === "" ? {} : { database }),
    adapter: "postgres",
    max: maxConnections,
    bigint: true,
    connectionTimeout: patienceMs / 1000,
    connection: { application_name: "overstory", lock_timeout: patienceMs },
  });
}

type Mode = "write" | "read";

const modes: Readonly<Record<Mode, string>> = {
  write: "ISOLATION LEVEL SERIALIZABLE",
  read: "ISOLATION LEVEL SERIALIZABLE READ ONLY",
};

/** One try of a unit of work. From `committing` on, a lost connection leaves open whether it took effect. */
interface Attempt {
  readonly number: number;
  committing: boolean;
}

async function once<T>(db: SQL, mode: Mode, attempt: Attempt, work: (tx: Tx) => Promise<T>): Promise<T> {
  // Boxed, because Bun would await each element of a resolved array by itself.
  const box = await db.begin(modes[mode], async (tx) => {
    // Repeated writers queue up here, one at a time, so that each round of a crowd gets one writer through. A table
    // lock comes before the snapshot; an advisory lock would be waited for with an old one.
    if (attempt.number > 1 && mode === "write")
      await tx.unsafe("LOCK TABLE schema_version IN SHARE ROW EXCLUSIVE MODE");
    const value = await runUnit(postgresSql(tx), work);
    attempt.committing = mode === "write";
    return { value };
  });
  return box.value;
}

async function repeated<T>(place: string, action: (attempt: Attempt) => Promise<T>): Promise<T> {
  const start = performance.now();
  for (let number = 1; ; number++) {
    const attempt: Attempt = { number, committing: false };
    try {
      return await action(attempt);
    } catch (error) {
      const why = reasonToRepeat(error, attempt);
      const waitedMs = Math.round(performance.now() - start);
      if (why === undefined) throw error;
      if (waitedMs > patienceMs && why === "connection") throw error;
      if (waitedMs > patienceMs) throw new Failure({ kind: "store-busy", path: place, waitedMs }, { cause: error });
    }
    const wait = Math.min(2 ** number, 200);
    await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
  }
}

/**
 * A serialisation failure, a deadlock or a connection lost before the commit says nothing about the work. A broken
 * unique rule may: two units that looked first can still meet there, a repeated one also with those that try for the
 * first time. When it is the work's own fault, the repetitions fail alike.
 */
function reasonToRepeat(error: unknown, attempt: Attempt): "conflict" | "connection" | undefined {
  const { state } = faultOf(error);
  if (state === "40001" || state === "40P01") return "conflict";
  if (state === "23505" && attempt.number < 5) return "conflict";
  return isConnectionLoss(error) && !attempt.committing ? "connection" : undefined;
}

function postgresSql(tx: TransactionSQL): Sql {
  let ordered: Promise<unknown> | undefined;
  const send = (text: string, values: readonly SqlValue[]) =>
    tx.unsafe<Record<string, unknown>[]>(numbered(text), values.map(sent));
  return {
    dialect: "postgres",
    all: async (text, ...values) => (await send(text, values)).map(received),
    run: async (text, ...values) => (await send(text, values)).affectedRows,
    orderCommits: async () => {
      ordered ??= tx.unsafe(`SELECT pg_advisory_xact_lock(${advisoryLocks.commitOrder})`).execute();
      await ordered;
    },
  };
}

/**
 * Numbers go as text, so that the server takes each value's type from its column and not from its size. PostgreSQL
 * has no U+0000 in text; one stray byte in an agent's output must not make a turn impossible to settle.
 */
function sent(value: SqlValue): string | null {
  if (value === null) return null;
  return typeof value === "number" ? String(value) : value.replaceAll("\0", "\uFFFD");
}

function received(row: Readonly<Record<string, unknown>>): SqlRow {
  const made: Record<string, SqlValue> = {};
  for (const [name, value] of Object.entries(row)) {
    if (value === null || typeof value === "string" || typeof value === "number") made[name] = value;
    else if (typeof value === "bigint") made[name] = Number(value);
    else throw new Error(`column ${name} has a type outside the shared subset`);
  }
  return made;
}

/**
 * How many writing transactions have ended on the server: grows by one with each of them, also those of other
 * databases, so a change may be nothing but is never missed.
 */
async function changeCounter(db: SQL, place: string): Promise<number> {
  try {
    const [row] = await db.unsafe<{ ended: bigint }[]>(
      `SELECT pg_snapshot_xmax(now_at)::text::bigint - (SELECT COUNT(*) FROM pg_snapshot_xip(now_at)) AS ended
       FROM (SELECT pg_current_snapshot() AS now_at) AS snapshot`,
    );
    return Number(row?.ended ?? 0);
  } catch (error) {
    throw translated(place, error);
  }
}

/** Advisory locks of this program in its database: one namespace, one number per purpose. */
const advisoryLocks = { commitOrder: "28534, 1", migration: "28534, 2" } as const;

/** Creates or migrates the schema, once, however many open at the same moment. `place` names the database in failures. */
async function ensureSchema(db: SQL, place: string): Promise<void> {
  if (isCurrent(await versionOf(db), place)) return;
  await db.begin(async (tx) => {
    await tx.unsafe(`SELECT pg_advisory_xact_lock(${advisoryLocks.migration})`);
    await tx.unsafe(`CREATE TABLE IF NOT EXISTS schema_version (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      version INTEGER NOT NULL
    )`);
    const version = await versionOf(tx);
    if (isCurrent(version, place)) return;
    await tx.unsafe(statementsFrom(version, "postgres").join(";\n"));
    await tx.unsafe(
      `INSERT INTO schema_version (only_row, version) VALUES (1, ${schemaVersion})
       ON CONFLICT (only_row) DO UPDATE SET version = excluded.version`,
    );
  });
}

function isCurrent(version: number, place: string): boolean {
  if (version <= schemaVersion) return version === schemaVersion;
  throw new Failure({ kind: "store-too-new", path: place, found: version, known: schemaVersion });
}

/** Looks where the tables would be created and nowhere else: another project's may be further down the search path. */
async function versionOf(db: SQL): Promise<number> {
  const [table] = await db.unsafe<{ there: boolean }[]>(
    `SELECT EXISTS (SELECT 1 FROM pg_tables
                    WHERE schemaname = current_schema() AND tablename = 'schema_version') AS there`,
  );
  if (table?.there !== true) return 0;
  const [row] = await db.unsafe<{ version: number }[]>("SELECT version FROM schema_version");
  return row?.version ?? 0;
}

const known = new Map<string, string>();

/** Replaces `?` by `$1`, `$2` ... as PostgreSQL wants them; a question mark inside quotes stays. */
export function numbered(text: string): string {
  const cached = known.get(text);
  if (cached !== undefined) return cached;
  let count = 0;
  const made = text.replace(quotedOrMark, (found) => (found === "?" ? `$${++count}` : found));
  known.set(text, made);
  return made;
}

/** A doubled quote inside quotes reads as two quoted parts, which comes to the same. */
const quotedOrMark = /'[^']*'|"[^"]*"|\?/g;

/** How long a unit of work is repeated, or waits for a lock, before it gives up with `store-busy`. */
const patienceMs = 10_000;

/** The database as it may be shown: without user and password. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) throw new Failure({ kind: "unexpected", problem: "the PostgreSQL address is not a URL" });
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}

/** What an error says about itself: the client's `code` and the server's SQLSTATE. */
function faultOf(error: unknown): { readonly code?: string; readonly state?: string } {
  if (!(error instanceof Error)) return {};
  const code = "code" in error && typeof error.code === "string" ? { code: error.code } : {};
  const state = "errno" in error && typeof error.errno === "string" ? { state: error.errno } : {};
  return { ...code, ...state };
}

/** The failure a recognised error stands for; anything else comes back as it is. */
export function translated(place: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Failure) return error;
  const { state = "" } = faultOf(error);
  const cause = { cause: error };
  if (state === "XX001" || state === "XX002")
    return new Failure({ kind: "store-corrupt", path: place, problem: error.message, backup: null }, cause);
  if (state === "25006") return new Failure({ kind: "store-read-only", path: place }, cause);
  if (state === "53100") return new Failure({ kind: "disk-full", path: place }, cause);
  if (state === "55P03") return new Failure({ kind: "store-busy", path: place, waitedMs: patienceMs }, cause);
  if (isConnectionLoss(error) || refused.test(state))
    return new Failure({ kind: "unexpected", problem: `${place} cannot be reached: ${error.message}` }, cause);
  return error;
}

/** The server went away, restarts, or has no connection left: the same call may work a moment later. */
function isConnectionLoss(error: unknown): boolean {
  const { code = "", state = "" } = faultOf(error);
  return code.startsWith("ERR_POSTGRES_CONNECTION") || /^(08|53300|57P0)/.test(state);
}

/** Wrong credentials, or no such database: trying again would not help. */
const refused = /^(28|3D000)/;
