import { SQL, type TransactionSQL } from "bun";
import { Failure } from "../domain/failure.ts";
import type { Store, Tx } from "../ports/store.ts";
import { faultOf, isConnectionLoss, patienceMs, placeOf, translated } from "./postgres-faults.ts";
import { numbered } from "./postgres-placeholders.ts";
import { advisoryLocks, ensureSchema } from "./postgres-schema.ts";
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
    // Repeated writers queue up here, one at a time, so that each round of a crowd gets somebody through. A table
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
 * unique rule may: two units that looked first can still meet there, and the second look tells; when it is the work's
 * own fault the repetition fails alike.
 */
function reasonToRepeat(error: unknown, attempt: Attempt): "conflict" | "connection" | undefined {
  const { state } = faultOf(error);
  if (state === "40001" || state === "40P01") return "conflict";
  if (state === "23505" && attempt.number === 1) return "conflict";
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
