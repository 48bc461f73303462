import {
  type CheckKind,
  type CheckStatus,
  type CheckTerms,
  type Missing,
  openCheckStatuses,
  type StoredCheck,
} from "../domain/completion/check.ts";
import type { CheckRows } from "../ports/store/merges.ts";
import { isBefore, valuesOf } from "./place.ts";
import { literals, placeholders, type Sql } from "./sql.ts";
import { assign, insertNumbered, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

export const checks = table<StoredCheck>("checks", {
  seq: integer,
  id: text(),
  kind: text<CheckKind>(),
  agentId: nullable(text()),
  agentName: nullable(text()),
  refName: text(),
  commitId: nullable(text()),
  status: text<CheckStatus>(),
  request: json<CheckTerms>(),
  progress: nullable(text()),
  verdict: nullable(text<NonNullable<StoredCheck["verdict"]>>()),
  receiptId: nullable(text()),
  problem: json<readonly Missing[]>(),
  attempts: integer,
  requestedBy: text(),
  createdAt: integer,
  updatedAt: integer,
});

/** In the words of its index: what is not open. */
const answered = "status IN ('done', 'failed')";
/** Said with every question about some of them, or the index of those that are open would not be used. */
const open = `status IN ${literals(openCheckStatuses)}`;

export const checkRows = (sql: Sql): CheckRows => ({
  insert: async (check) => {
    await insertNumbered(sql, checks, check);
  },
  get: (id) => selectOne(sql, checks, "WHERE id = ?", id),
  queued: () => select(sql, checks, `WHERE ${open} AND status = 'queued' ORDER BY seq`),
  running: () => select(sql, checks, `WHERE ${open} AND status = 'running' ORDER BY seq`),
  completionsOf: (agentId) => select(sql, checks, "WHERE agent_id = ? AND kind = 'completion' ORDER BY seq", agentId),
  change: async (id, from, change) => {
    const { set, values } = assign(checks, change);
    const changed = await sql.run(
      `UPDATE checks SET ${set} WHERE id = ? AND status IN ${placeholders(from.length)}`,
      ...values,
      id,
      ...from,
    );
    return changed > 0;
  },
  dueWork: async (agentId) => {
    const about = agentId === undefined ? "" : "AND agent_id = ?";
    const values = agentId === undefined ? [] : [agentId];
    const rows = await sql.all(`SELECT 1 AS due FROM checks WHERE ${open} ${about} LIMIT 1`, ...values);
    return rows.length > 0;
  },
  answered: (before, most) =>
    select(
      sql,
      checks,
      `WHERE ${answered} AND ${isBefore("updated_at")} ORDER BY updated_at DESC, id DESC LIMIT ?`,
      ...valuesOf(before),
      most,
    ),
  remove: (ids) => sql.run(`DELETE FROM checks WHERE ${answered} AND id IN ${placeholders(ids.length)}`, ...ids),
});
