import { openMergeStatuses } from "../domain/merge/entry.ts";
import type { FoundRows, OldRowKind, OldRows, Place } from "../ports/store/old-rows.ts";
import { settledNames } from "./settled-names.ts";
import { literals, placeholders, type Sql, type SqlRow, type SqlValue } from "./sql.ts";

/** Which rows of a table may go, and in which order they are looked at. */
interface Kind {
  readonly table: string;
  /** Names a row. If several rows share a value, all old ones of them are deleted together. */
  readonly key: string;
  /** The column with the time that counts as the age of a row. */
  readonly time: string;
  /** The columns of an index by which rows are walked, oldest first. */
  readonly order: readonly [string, string];
  /** A condition for the rows that are looked at, the same as that of the index. */
  readonly only?: string;
  /** A condition for the rows that may be deleted. Without one every old row may. */
  readonly free?: string;
}

/** No agent of this name is at work, waits for something, or keeps its worktree. */
const isOver = (name: string): string => `NOT EXISTS (SELECT 1 FROM agents a WHERE a.name = ${name}
  AND a.released_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM agents n WHERE n.name = a.name AND n.generation > a.generation))`;

const nameOf = (agentId: string): string => `(SELECT o.name FROM agents o WHERE o.id = ${agentId})`;

const isUnreleased = (branch: string): string =>
  `EXISTS (SELECT 1 FROM agents b WHERE b.branch = ${branch} AND b.released_at IS NULL)`;

/** Rows that are numbered in the order of their age are walked by their number. */
const numbered = { key: "seq", time: "created_at", order: ["seq", "seq"] } as const;

const kinds: Readonly<Record<OldRowKind, Kind>> = {
  events: {
    ...numbered,
    table: "events",
    free: `CASE WHEN agent_name IS NOT NULL THEN ${isOver("events.agent_name")}
      ELSE NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = events.run_id AND r.status = 'active') END`,
  },
  turns: {
    table: "turns",
    key: "id",
    time: "ended_at",
    order: ["ended_at", "id"],
    only: "ended_at IS NOT NULL",
    free: isOver("turns.agent_name"),
  },
  processes: {
    table: "processes",
    key: "id",
    time: "ended_at",
    order: ["ended_at", "id"],
    only: "ended_at IS NOT NULL",
    free: "NOT EXISTS (SELECT 1 FROM leases l WHERE l.process_id = processes.id)",
  },
  transitions: { ...numbered, table: "transitions", free: isOver(nameOf("transitions.agent_id")) },
  tokens: {
    table: "tokens",
    key: "digest",
    time: "revoked_at",
    order: ["revoked_at", "digest"],
    only: "revoked_at IS NOT NULL",
  },
  usage: {
    table: "usage",
    key: "turn_id",
    time: "created_at",
    order: ["created_at", "turn_id"],
    free: isOver("usage.agent_name"),
  },
  spending: {
    table: "spending",
    key: "source",
    time: "ended_at",
    order: ["ended_at", "source"],
    free: isOver("spending.agent_name"),
  },
  "spending-sums": { table: "spending_sums", key: "key", time: "last_at", order: ["last_at", "key"] },
  handoffs: { ...numbered, table: "handoffs", free: isOver("handoffs.agent_name") },
  audit: { ...numbered, table: "audit" },
  requests: { table: "requests", key: "id", time: "created_at", order: ["created_at", "id"] },
  "day-budgets": {
    table: "budgets",
    key: "subject",
    time: "updated_at",
    order: ["updated_at", "subject"],
    only: "scope = 'day'",
    free: "reserved = 0",
  },
  "merge-attempts": {
    table: "merge_attempts",
    key: "id",
    time: "finished_at",
    order: ["finished_at", "id"],
    only: "finished_at IS NOT NULL",
    free: `NOT EXISTS (SELECT 1 FROM merge_queue q WHERE q.status IN ${literals(openMergeStatuses)}
      AND replace(replace(merge_attempts.queue_ids, '[', ','), ']', ',') LIKE '%,' || q.id || ',%')`,
  },
  "radar-pairs": { table: "radar_pairs", key: "a_commit", time: "created_at", order: ["created_at", "a_commit"] },
  "radar-warnings": {
    table: "radar_warnings",
    key: "branch_a",
    time: "created_at",
    order: ["created_at", "branch_a"],
    free: `NOT (${isUnreleased("radar_warnings.branch_a")} AND ${isUnreleased("radar_warnings.branch_b")})`,
  },
};

export const oldRowsIn = (sql: Sql): OldRows => ({
  ...settledNames(sql),
  look: async (kind, { before, after, most }) => {
    const { table, key, time, order, only = "1 = 1", free = "1 = 1" } = kinds[kind];
    const [first, second] = order;
    const isNumbered = first === second;
    const values: SqlValue[] = after === null ? [] : isNumbered ? [after.at] : [after.at, after.id];
    const from = after === null ? "1 = 1" : isNumbered ? `${first} > ?` : `(${first}, ${second}) > (?, ?)`;
    const rows = await sql.all(
      `SELECT ${key} AS key, ${time} AS time, ${first} AS at, ${second} AS id, CASE WHEN ${free} THEN 1 ELSE 0 END AS free
       FROM ${table} WHERE ${only} AND ${from} ORDER BY ${isNumbered ? first : `${first}, ${second}`} LIMIT ?`,
      ...values,
      most,
    );
    return found(rows, before, most);
  },
  remove: async (kind, keys, before) => {
    const { table, key, time, only = "1 = 1", free = "1 = 1" } = kinds[kind];
    if (keys.length === 0) return 0;
    const given = key === "seq" ? keys.map(Number) : keys;
    return sql.run(
      `DELETE FROM ${table} WHERE ${key} IN ${placeholders(given.length)} AND ${time} < ? AND ${only} AND ${free}`,
      ...given,
      before,
    );
  },
  place: async (what) => {
    const [row] = await sql.all("SELECT at, id FROM retention_places WHERE what = ?", what);
    return row === undefined ? null : placeOf(row);
  },
  setPlace: async (what, place) => {
    await sql.run("DELETE FROM retention_places WHERE what = ?", what);
    if (place === null) return;
    await sql.run("INSERT INTO retention_places (what, at, id) VALUES (?, ?, ?)", what, place.at, place.id);
  },
});

/** The rows are in the order of their age, so the first young row ends the walk. */
function found(rows: readonly SqlRow[], before: number, most: number): FoundRows {
  const young = rows.findIndex((row) => Number(row.time) >= before);
  const old = young === -1 ? rows : rows.slice(0, young);
  const last = young === -1 && rows.length === most ? old.at(-1) : undefined;
  return {
    free: [...new Set(old.filter((row) => row.free === 1).map((row) => String(row.key)))],
    last: last === undefined ? null : placeOf(last),
  };
}

const placeOf = (row: SqlRow): Place => ({ at: Number(row.at), id: String(row.id) });
