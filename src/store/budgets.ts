import type { WaitKind } from "../domain/agent/wait.ts";
import type { BudgetScope, BudgetUnit, Ledger, LedgerKey, Reservation } from "../domain/budget/budget.ts";
import { spentOf, type Usage } from "../domain/budget/usage.ts";
import type { Wait, WaitRows } from "../ports/store/agents.ts";
import type { BudgetRows, UsageRows } from "../ports/store/turns.ts";
import { placeholders, type Sql, type SqlValue } from "./sql.ts";
import { decodeRow, flag, insert, integer, nullable, select, table, text } from "./table.ts";

export const waits = table<Wait>("waits", {
  agentName: text(),
  kind: text<WaitKind>(),
  ref: text(),
  since: integer,
  deadline: nullable(integer),
});

export const waitRows = (sql: Sql): WaitRows => ({
  add: async (wait) => {
    await insert(sql, waits, wait, "ON CONFLICT DO NOTHING");
  },
  remove: async (agentName, kind, ref) => {
    await sql.run("DELETE FROM waits WHERE agent_name = ? AND kind = ? AND ref = ?", agentName, kind, ref);
  },
  resolve: async (kind, ref) => {
    const rows = await sql.all("DELETE FROM waits WHERE kind = ? AND ref = ? RETURNING agent_name", kind, ref);
    return rows.map((row) => String(row.agent_name));
  },
  of: (agentName) => select(sql, waits, "WHERE agent_name = ? ORDER BY since, kind, ref", agentName),
  ofKind: (kind) =>
    select(
      sql,
      waits,
      `WHERE kind = ? AND EXISTS
         (SELECT 1 FROM agents a WHERE a.name = waits.agent_name AND a.state NOT IN ('completed', 'zombie'))
       ORDER BY since, agent_name, ref`,
      kind,
    ),
  nextDeadline: async (kind) => {
    const rows = await sql.all("SELECT MIN(deadline) AS due FROM waits WHERE kind = ? AND deadline IS NOT NULL", kind);
    const due = rows[0]?.due;
    return typeof due === "number" ? due : undefined;
  },
});

export const budgets = table<Ledger>("budgets", {
  scope: text<BudgetScope>(),
  subject: text(),
  unit: text<BudgetUnit>(),
  given: nullable(integer),
  raised: integer,
  spent: integer,
  reserved: integer,
  unpriced: integer,
  warned: flag,
  updatedAt: integer,
});

export const budgetReservations = table<Reservation>("budget_reservations", {
  turnId: text(),
  scope: text<BudgetScope>(),
  subject: text(),
  unit: text<BudgetUnit>(),
  amount: integer,
});

const sums = table<Pick<Ledger, "unit" | "spent">>("budgets", { unit: text<BudgetUnit>(), spent: integer });

const live = "state NOT IN ('completed', 'zombie')";

/** Rows of one statement: a turn touches up to sixteen ledgers, which must not be as many round trips. */
const tuples = (count: number, tuple: string): string => Array.from({ length: count }, () => tuple).join(", ");

export const budgetRows = (sql: Sql): BudgetRows => ({
  list: () => select(sql, budgets, "ORDER BY scope, subject, unit"),
  of: async (subjects) => {
    if (subjects.length === 0) return [];
    const any = subjects.map(() => "(scope = ? AND subject = ?)").join(" OR ");
    const values = subjects.flatMap(({ scope, subject }) => [scope, subject]);
    return select(sql, budgets, `WHERE ${any} ORDER BY scope, subject, unit`, ...values);
  },
  inUse: (day, limited) =>
    select(
      sql,
      budgets,
      `WHERE (given IS NOT NULL OR scope || ':' || unit IN ${placeholders(limited.length)})
         AND ((scope = 'day' AND subject = ?)
           OR (scope = 'run' AND subject IN (SELECT id FROM runs WHERE status = 'active'))
           OR (scope = 'agent' AND subject IN (SELECT name FROM agents WHERE ${live}))
           OR (scope = 'task' AND subject IN (SELECT task_id FROM agents WHERE ${live})))
       ORDER BY scope, subject, unit`,
      ...limited.map(({ scope, unit }) => `${scope}:${unit}`),
      day,
    ),
  book: async (changes, now) => {
    if (changes.length === 0) return;
    const values = changes.flatMap(({ scope, subject, unit, spent, reserved, unpriced = 0 }): SqlValue[] => [
      scope,
      subject,
      unit,
      spent,
      reserved,
      unpriced,
      now,
    ]);
    await sql.run(
      `INSERT INTO budgets (scope, subject, unit, raised, spent, reserved, unpriced, warned, updated_at)
       VALUES ${tuples(changes.length, "(?, ?, ?, 0, ?, ?, ?, 0, ?)")}
       ON CONFLICT (scope, subject, unit) DO UPDATE SET spent = budgets.spent + excluded.spent,
         reserved = budgets.reserved + excluded.reserved, unpriced = budgets.unpriced + excluded.unpriced, updated_at = excluded.updated_at`,
      ...values,
    );
  },
  give: (key, amount, now) => setLimit(sql, key, { given: amount, raised: 0, set: "given = excluded.given", now }),
  raise: (key, amount, now) =>
    setLimit(sql, key, { given: null, raised: amount, set: "raised = budgets.raised + excluded.raised", now }),
  warn: async ({ scope, subject, unit }, now) =>
    (await sql.run(
      "UPDATE budgets SET warned = 1, updated_at = ? WHERE scope = ? AND subject = ? AND unit = ? AND warned = 0",
      now,
      scope,
      subject,
      unit,
    )) > 0,
  hold: async (turnId, reservations) => {
    if (reservations.length === 0) return;
    const values = reservations.flatMap(({ scope, subject, unit, amount }): SqlValue[] => [
      turnId,
      scope,
      subject,
      unit,
      amount,
    ]);
    await sql.run(
      `INSERT INTO budget_reservations (turn_id, scope, subject, unit, amount)
       VALUES ${tuples(reservations.length, "(?, ?, ?, ?, ?)")}`,
      ...values,
    );
  },
  isHeld: async (turnId) =>
    (await sql.all("SELECT 1 AS held FROM budget_reservations WHERE turn_id = ? LIMIT 1", turnId)).length > 0,
  heldBy: (turnId) => select(sql, budgetReservations, "WHERE turn_id = ? ORDER BY scope, subject, unit", turnId),
  take: async (turnId) => {
    const rows = await sql.all(
      `DELETE FROM budget_reservations WHERE turn_id = ? RETURNING ${budgetReservations.list}`,
      turnId,
    );
    return rows.map((row) => decodeRow(budgetReservations, row));
  },
  spentBy: async (capability) => {
    const rows = await sql.all(
      `SELECT unit, CAST(SUM(spent) AS BIGINT) AS spent FROM budgets
       WHERE scope = 'agent' AND subject IN (SELECT name FROM agents WHERE capability = ?) GROUP BY unit`,
      capability,
    );
    return spentOf(rows.map((row) => decodeRow(sums, row)));
  },
  waiting: () => select(sql, waits, "WHERE kind = 'budget' ORDER BY since, agent_name, ref"),
  abandoned: async () => {
    const rows = await sql.all(
      `SELECT DISTINCT turn_id FROM budget_reservations r
       WHERE NOT EXISTS (SELECT 1 FROM turns t WHERE t.id = r.turn_id AND t.status <> 'cancelled') ORDER BY turn_id`,
    );
    return rows.map((row) => String(row.turn_id));
  },
});

interface NewLimit {
  readonly given: number | null;
  readonly raised: number;
  /** How an existing row changes. */
  readonly set: string;
  readonly now: number;
}

async function setLimit(sql: Sql, key: LedgerKey, { given, raised, set, now }: NewLimit): Promise<void> {
  await sql.run(
    `INSERT INTO budgets (scope, subject, unit, given, raised, spent, reserved, warned, updated_at)
     VALUES (?, ?, ?, ?, ?, 0, 0, 0, ?)
     ON CONFLICT (scope, subject, unit) DO UPDATE SET ${set}, warned = 0, updated_at = excluded.updated_at`,
    key.scope,
    key.subject,
    key.unit,
    given,
    raised,
    now,
  );
}

/** The columns of token counts, in every table that has them. */
export const tokenColumns = { input: integer, output: integer, cacheRead: integer, cacheWrite: integer } as const;

export const usage = table<Usage>("usage", {
  turnId: text(),
  messageId: text(),
  agentName: text(),
  runId: text(),
  taskId: nullable(text()),
  model: nullable(text()),
  ...tokenColumns,
  createdAt: integer,
});

/** Each count on its own: a later report may hold more of one and, cut short, less of another. */
const larger = ["input", "output", "cache_read", "cache_write"]
  .map(
    (count) => `${count} = CASE WHEN excluded.${count} > usage.${count} THEN excluded.${count} ELSE usage.${count} END`,
  )
  .join(", ");

export const usageRows = (sql: Sql): UsageRows => ({
  record: async (row) => {
    await insert(
      sql,
      usage,
      row,
      `ON CONFLICT (turn_id, message_id) DO UPDATE SET ${larger}, model = COALESCE(excluded.model, usage.model)`,
    );
  },
  ofTurn: (turnId) => select(sql, usage, "WHERE turn_id = ? ORDER BY created_at, message_id", turnId),
  knownAnswers: async (agentName, messageIds) => {
    const rows = await sql.all(
      `SELECT DISTINCT message_id FROM usage WHERE turn_id IN (
         SELECT id FROM turns WHERE agent_id IN (SELECT id FROM agents WHERE name = ?))`,
      agentName,
    );
    const known = new Set(rows.map((row) => String(row.message_id)));
    return messageIds.filter((id) => known.has(id));
  },
  inConversation: async ({ agentName, providerSessionId, except }) => {
    const [row] = await sql.all(
      `SELECT SUM(input) AS input, SUM(output) AS output, SUM(cache_read) AS cache_read, SUM(cache_write) AS cache_write
       FROM usage WHERE turn_id IN (
         SELECT id FROM turns
         WHERE agent_id IN (SELECT id FROM agents WHERE name = ?) AND resume_observed = ? AND id <> ?)`,
      agentName,
      providerSessionId,
      except,
    );
    const sum = (name: string): number => Number(row?.[name] ?? 0);
    return {
      input: sum("input"),
      output: sum("output"),
      cacheRead: sum("cache_read"),
      cacheWrite: sum("cache_write"),
    };
  },
});
