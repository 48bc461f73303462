import type { Tx } from "../ports/store.ts";
import { agentRows } from "./agents.ts";
import { budgetRows, usageRows, waitRows } from "./budgets.ts";
import { checkRows, gateRows, receiptRows } from "./checks.ts";
import { consistencyRows } from "./consistency.ts";
import { deliveryRows, inboxCheckRows } from "./deliveries.ts";
import { auditRows, eventRows, noticeRows } from "./events.ts";
import { fleetRows } from "./fleet.ts";
import { importRows } from "./imports.ts";
import { mergeAttemptRows, mergeOpRows, radarRows, resolutionRows } from "./merge-history.ts";
import { mergeRows } from "./merges.ts";
import { messageRows } from "./messages.ts";
import { notificationRows } from "./notifications.ts";
import { oldRowsIn } from "./old-rows.ts";
import { leaseRows, processRows, requestRows, tokenRows } from "./processes.ts";
import { cleaningRows, recoveryRows, removalRows, snapshotRows } from "./snapshots.ts";
import { spendingRows } from "./spending.ts";
import type { Sql } from "./sql.ts";
import { criterionRows, groupRows, runRows, specRows, taskRows } from "./tasks.ts";
import { turnRows } from "./turns.ts";
import { webRows } from "./web.ts";

/**
 * Runs `work` inside a transaction that the caller opened and will end. Rejects when it should not be committed:
 * `work` rejected, awaited something other than the store, left a statement unawaited, or caught the failure of a
 * statement (PostgreSQL has given such a transaction up already). Afterwards `work` can reach the database no more, so
 * what it does late never lands in another caller's transaction.
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

  // Everything that follows a statement's answer runs before the event loop turns. Holding a writer's lock over any
  // longer wait would stop every other process.
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

const families: { readonly [Family in keyof Tx]: (sql: Sql) => Tx[Family] } = {
  runs: runRows,
  agents: agentRows,
  turns: turnRows,
  processes: processRows,
  leases: leaseRows,
  messages: messageRows,
  deliveries: deliveryRows,
  inboxChecks: inboxCheckRows,
  waits: waitRows,
  events: eventRows,
  notices: noticeRows,
  notifications: notificationRows,
  audit: auditRows,
  tasks: taskRows,
  groups: groupRows,
  specs: specRows,
  criteria: criterionRows,
  tokens: tokenRows,
  requests: requestRows,
  budgets: budgetRows,
  usage: usageRows,
  spending: spendingRows,
  recovery: recoveryRows,
  snapshots: snapshotRows,
  removals: removalRows,
  cleaning: cleaningRows,
  merges: mergeRows,
  mergeAttempts: mergeAttemptRows,
  mergeOps: mergeOpRows,
  gates: gateRows,
  receipts: receiptRows,
  checks: checkRows,
  resolutions: resolutionRows,
  radar: radarRows,
  fleet: fleetRows,
  oldRows: oldRowsIn,
  consistency: consistencyRows,
  imports: importRows,
  web: webRows,
};

/** A family is made when it is asked for: a command that touches three tables must not pay for thirty. */
function makeTx(sql: Sql): Tx {
  const made = new Map<PropertyKey, unknown>();
  const family = (_: typeof families, name: PropertyKey): unknown => {
    if (!isFamily(name)) return undefined;
    if (!made.has(name)) made.set(name, families[name](sql));
    return made.get(name);
  };
  // The same names as in the table, each with its family instead of the maker of it.
  return new Proxy(families, { get: family }) as unknown as Tx;
}

const isFamily = (name: PropertyKey): name is keyof Tx => Object.hasOwn(families, name);
