import {
  growthOf,
  type Spending,
  type SpendingDimension,
  type SpendingSum,
  spendingDimensions,
} from "../domain/cost/spending.ts";
import type { CostSource } from "../domain/prices/prices.ts";
import type { SpendingFilter, SpendingRows } from "../ports/store/spending.ts";
import { tokenColumns } from "./budgets.ts";
import { conditionList, placeholders, type Sql, type SqlRow, type SqlValue } from "./sql.ts";
import { decodeRow, flag, insert, integer, nullable, select, selectOne, table, text } from "./table.ts";

export const spending = table<Spending>("spending", {
  source: text(),
  part: integer,
  model: nullable(text()),
  agentId: nullable(text()),
  agentName: text(),
  capability: text(),
  runtime: text(),
  runId: nullable(text()),
  taskId: nullable(text()),
  told: flag,
  ...tokenColumns,
  costMicros: nullable(integer),
  costSource: text<CostSource>(),
  priceVersion: nullable(text()),
  startedAt: integer,
  endedAt: integer,
});

export const spendingSums = table<SpendingSum>("spending_sums", {
  dimension: text<SpendingDimension>(),
  key: text(),
  turns: integer,
  untold: integer,
  unpriced: integer,
  ...tokenColumns,
  costMicros: integer,
  durationMs: integer,
  firstAt: integer,
  lastAt: integer,
});

export const spendingRows = (sql: Sql): SpendingRows => ({
  book: async (rows) => {
    const source = rows[0]?.source;
    if (source === undefined) return;
    const before = await ofSource(sql, source);
    if (before.length > 0) await sql.run("DELETE FROM spending WHERE source = ?", source);
    for (const row of rows) await insert(sql, spending, row);
    await grow(sql, growthOf(before, rows));
  },
  ofSource: (source) => ofSource(sql, source),
  newestOf: (agentId) =>
    selectOne(
      sql,
      spending,
      // By its name, which has an index; a name has few incarnations.
      "WHERE agent_name = (SELECT name FROM agents WHERE id = ?) AND agent_id = ? ORDER BY ended_at DESC, part LIMIT 1",
      agentId,
      agentId,
    ),
  sums: (dimension, filter, last) => {
    const { where, values } = conditionsOf(filter);
    if (where === "") {
      // Quarters of an hour are in the order of their keys; a long turn would put one before its successor.
      const order = dimension === "quarter" ? "key DESC" : "last_at DESC, key DESC";
      return select(sql, spendingSums, `WHERE dimension = ? ORDER BY ${order} LIMIT ?`, dimension, last);
    }
    return summed(sql, dimension, { where, values, last });
  },
  steps: async (dimension, filter, stepMs) => {
    const { where, values } = conditionsOf(filter);
    const [key, step] = [keys[dimension], `ended_at / ${Math.floor(stepMs)}`];
    const rows = await sql.all(
      `SELECT ${key} AS key, ${step} AS step, SUM(COALESCE(cost_micros, 0)) AS cost_micros FROM spending
       ${where === "" ? "WHERE" : `${where} AND`} ${key} IS NOT NULL GROUP BY ${key}, ${step} ORDER BY ${step}`,
      ...values,
    );
    return rows.map((row) => ({
      key: String(row.key),
      step: Number(row.step),
      costMicros: Number(row.cost_micros),
    }));
  },
  sumsOf: (dimension, keys) =>
    select(sql, spendingSums, `WHERE dimension = ? AND key IN ${placeholders(keys.length)}`, dimension, ...keys),
});

const ofSource = (sql: Sql, source: string): Promise<Spending[]> =>
  select(sql, spending, "WHERE source = ? ORDER BY part", source);

const counted = ["turns", "untold", "unpriced", "input", "output", "cache_read", "cache_write", "cost_micros"] as const;

async function grow(sql: Sql, growth: readonly SpendingSum[]): Promise<void> {
  if (growth.length === 0) return;
  const values = growth.flatMap((sum): SqlValue[] => [
    sum.dimension,
    sum.key,
    sum.turns,
    sum.untold,
    sum.unpriced,
    sum.input,
    sum.output,
    sum.cacheRead,
    sum.cacheWrite,
    sum.costMicros,
    sum.durationMs,
    sum.firstAt,
    sum.lastAt,
  ]);
  const sums = [...counted, "duration_ms"].map((name) => `${name} = spending_sums.${name} + excluded.${name}`);
  const edge = (name: string, compare: string): string =>
    `${name} = CASE WHEN excluded.${name} ${compare} spending_sums.${name} THEN excluded.${name} ELSE spending_sums.${name} END`;
  await sql.run(
    `INSERT INTO spending_sums (${spendingSums.list})
     VALUES ${growth.map(() => placeholders(13)).join(", ")}
     ON CONFLICT (dimension, key) DO UPDATE SET ${[...sums, edge("first_at", "<"), edge("last_at", ">")].join(", ")}`,
    ...values,
  );
}

function conditionsOf(filter: SpendingFilter): { readonly where: string; readonly values: readonly SqlValue[] } {
  const { add, equal, all } = conditionList();
  if (filter.since !== undefined) add("ended_at >= ?", filter.since);
  if (filter.until !== undefined) add("ended_at <= ?", filter.until);
  equal("agent_name", filter.agentName);
  equal("run_id", filter.runId);
  equal("task_id", filter.taskId);
  equal("capability", filter.capability);
  equal("runtime", filter.runtime);
  return all();
}

/** Makes the sums anew from the rows, for SQLite. */
export const summedAnew = (): readonly string[] => [
  "DELETE FROM spending_sums",
  ...spendingDimensions.map((dimension) => {
    const counts = dimension === "model" ? "1 = 1" : "part = 0";
    const key = dimension === "quarter" ? "printf('%09d', started_at / 900000)" : keys[dimension];
    return `INSERT INTO spending_sums SELECT '${dimension}', ${key}, ${sumsWhere(counts)} FROM spending
      WHERE ${key} IS NOT NULL GROUP BY ${key}`;
  }),
];

/** The columns that `spendingKey` reads, in the words of SQL. */
const keys: Readonly<Record<SpendingDimension, string>> = {
  session: "COALESCE(agent_id, source)",
  agent: "agent_name",
  task: "task_id",
  run: "run_id",
  capability: "capability",
  runtime: "runtime",
  model: "COALESCE(model, '')",
  quarter: "started_at / 900000",
};

interface Narrowed {
  readonly where: string;
  readonly values: readonly SqlValue[];
  readonly last: number;
}

async function summed(
  sql: Sql,
  dimension: SpendingDimension,
  { where, values, last }: Narrowed,
): Promise<SpendingSum[]> {
  const counts = dimension === "model" ? "1 = 1" : "part = 0";
  const rows = await sql.all(
    `SELECT ${keys[dimension]} AS key, ${sumsWhere(counts)}
     FROM spending ${where} AND ${keys[dimension]} IS NOT NULL
     GROUP BY ${keys[dimension]} ORDER BY ${dimension === "quarter" ? "" : "MAX(ended_at) DESC, "}${keys[dimension]} DESC LIMIT ?`,
    ...values,
    last,
  );
  return rows.map((row) => decodeRow(spendingSums, plainRow(dimension, row)));
}

/** The columns of a sum, in the order of the table. `counts`: the rows that stand for their source. */
function sumsWhere(counts: string): string {
  const when = (condition: string): string => `SUM(CASE WHEN ${counts} AND ${condition} THEN 1 ELSE 0 END)`;
  return `${when("1 = 1")} AS turns, ${when("told = 0")} AS untold, ${when("cost_micros IS NULL")} AS unpriced,
    SUM(input) AS input, SUM(output) AS output, SUM(cache_read) AS cache_read, SUM(cache_write) AS cache_write,
    SUM(COALESCE(cost_micros, 0)) AS cost_micros,
    SUM(CASE WHEN ${counts} THEN ended_at - started_at ELSE 0 END) AS duration_ms,
    MIN(started_at) AS first_at, MAX(ended_at) AS last_at`;
}

/** PostgreSQL gives sums as text. */
function plainRow(dimension: SpendingDimension, { key, dimension: _, ...numbers }: SqlRow): SqlRow {
  const plain = Object.entries(numbers).map(([name, value]) => [name, Number(value)] as const);
  const text = dimension === "quarter" ? String(key).padStart(9, "0") : String(key);
  return { ...Object.fromEntries(plain), dimension, key: text };
}
