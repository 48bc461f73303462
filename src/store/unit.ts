import type { Tx } from "../ports/store.ts";
import type { Sql } from "./sql.ts";
import { makeTx } from "./tx.ts";

/**
 * Runs `work` inside a transaction that the caller opened and will end. Rejects when it should not be committed:
 * `work` rejected, awaited something other than the store, left a statement unawaited, or caught the failure of a
 * statement (PostgreSQL has given such a transaction up already). Afterwards `work` can reach the database no more, so
 * what it does late never lands in somebody else's transaction.
 */
export async function runUnit<T>(sql: Sql, work: (tx: Tx) => Promise<T>): Promise<T> {
  const unit = watched(sql);
  try {
    const value = await Promise.race([work(makeTx(unit.sql)), unit.strayed]);
    unit.check();
    return value;
  } finally {
    unit.end();
  }
}

interface Watched {
  readonly sql: Sql;
  /** Rejects when the event loop turned while no statement was on its way: the work waits for something else. */
  readonly strayed: Promise<never>;
  /** Throws when the work is done but its statements are not, or one of them failed. */
  check(): void;
  end(): void;
}

function watched(inner: Sql): Watched {
  let started = 0;
  let pending = 0;
  let over = false;
  let failed: { readonly error: unknown } | undefined;
  let watching = false;
  let stray: (error: Error) => void = () => {};
  const strayed = new Promise<never>((_, reject) => {
    stray = reject;
  });

  // Whatever follows a statement's answer runs before the event loop turns. Holding a writer's lock over any longer
  // wait would stop every other process.
  const watch = (): void => {
    if (watching) return;
    watching = true;
    const seen = started;
    setImmediate(() => {
      watching = false;
      if (over || pending > 0) return;
      if (started !== seen) return watch();
      stray(new Error("a transaction awaited something other than the store"));
    });
  };

  const statement = async <T>(run: () => Promise<T>): Promise<T> => {
    if (over) throw new Error("a statement came after the end of its transaction");
    started++;
    pending++;
    try {
      return await run();
    } catch (error) {
      failed ??= { error };
      throw error;
    } finally {
      pending--;
      if (pending === 0) watch();
    }
  };

  watch();
  return {
    sql: {
      dialect: inner.dialect,
      all: (text, ...values) => statement(() => inner.all(text, ...values)),
      run: (text, ...values) => statement(() => inner.run(text, ...values)),
      orderCommits: () => statement(() => inner.orderCommits()),
    },
    strayed,
    check: () => {
      if (failed !== undefined) throw failed.error;
      if (pending > 0) throw new Error("a transaction ended before its statements");
    },
    end: () => {
      over = true;
    },
  };
}
