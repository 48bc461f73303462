import type { Missing } from "../domain/completion/check.ts";
import {
  type CheckKind,
  type CheckStatus,
  type CheckTerms,
  openCheckStatuses,
  type StoredCheck,
} from "../domain/completion/check.ts";
import type { GateResult, GateStatus, Receipt } from "../domain/gate/gate.ts";
import type { CheckRows, GateRows, ReceiptRows } from "../ports/store/merges.ts";
import type { Place } from "../ports/store/old-rows.ts";
import { literals, placeholders, type Sql, type SqlValue } from "./sql.ts";
import {
  changeIn,
  flag,
  insert,
  insertNumbered,
  integer,
  json,
  nullable,
  select,
  selectOne,
  table,
  text,
} from "./table.ts";

/** That a row comes before a place, for rows ordered by this column and then by id. Takes `valuesOf` the place. */
export const isBefore = (column: string): string => `(${column}, id) < (?, ?)`;

export const valuesOf = ({ at, id }: Place): readonly SqlValue[] => [at, id];

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

/** The words of its index, for closed checks. */
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
  change: (id, from, change) => changeIn(sql, checks, { id, statuses: from }, change),
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

export const gateResults = table<GateResult>("gate_results", {
  id: text(),
  tree: text(),
  gate: text(),
  command: text(),
  gateHash: text(),
  status: text<GateStatus>(),
  exitCode: nullable(integer),
  durationMs: integer,
  logPath: text(),
  logDigest: text(),
  flaky: flag,
  kept: json<readonly string[]>(),
  createdAt: integer,
});

export const receipts = table<Receipt>("receipts", {
  id: text(),
  kind: text<Receipt["kind"]>(),
  subject: text(),
  baseCommit: nullable(text()),
  headCommit: text(),
  tree: text(),
  verdict: text<Receipt["verdict"]>(),
  results: json<readonly string[]>(),
  gaps: json<readonly string[]>(),
  createdAt: integer,
});

export const gateRows = (sql: Sql): GateRows => ({
  add: async (result) => {
    await insert(sql, gateResults, result, "ON CONFLICT (id) DO NOTHING");
  },
  get: (id) => selectOne(sql, gateResults, "WHERE id = ?", id),
  on: (tree, gateHash) =>
    select(sql, gateResults, "WHERE tree = ? AND gate_hash = ? ORDER BY created_at DESC, id DESC", tree, gateHash),
  onAnyForm: (tree, termsHash) => {
    const order = "ORDER BY created_at DESC, id DESC";
    return select(sql, gateResults, `WHERE tree = ? AND gate_hash LIKE ? ${order}`, tree, `${termsHash}%`);
  },
  all: async (ids) => {
    const found = await select(sql, gateResults, `WHERE id IN ${placeholders(ids.length)}`, ...ids);
    const byId = new Map(found.map((result) => [result.id, result]));
    return ids.flatMap((id) => byId.get(id) ?? []);
  },
  recent: (limit, gate) => {
    const newest = "ORDER BY created_at DESC, id DESC LIMIT ?";
    if (gate === undefined) return select(sql, gateResults, newest, limit);
    return select(sql, gateResults, `WHERE gate = ? ${newest}`, gate, limit);
  },
  purgeUnproving: async (before, most) => {
    const rows = await sql.all(
      `SELECT id, created_at FROM gate_results WHERE ${isBefore("created_at")}
         ORDER BY created_at DESC, id DESC LIMIT ?`,
      ...valuesOf(before),
      most,
    );
    const ids = rows.map((row) => String(row.id));
    const purged = await sql.run(
      `DELETE FROM gate_results WHERE id IN ${placeholders(ids.length)}
         AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.tree = gate_results.tree)`,
      ...ids,
    );
    const last = rows.length < most ? undefined : rows.at(-1);
    return { purged, last: last === undefined ? null : { at: Number(last.created_at), id: String(last.id) } };
  },
});

export const receiptRows = (sql: Sql): ReceiptRows => ({
  add: async (receipt) => {
    await insert(sql, receipts, receipt);
  },
  get: (id) => selectOne(sql, receipts, "WHERE id = ?", id),
  about: (subject) => select(sql, receipts, "WHERE subject = ? ORDER BY created_at DESC, id DESC", subject),
  passing: (before, most) =>
    select(
      sql,
      receipts,
      `WHERE kind IN ('completion', 'check') AND ${isBefore("created_at")} ORDER BY created_at DESC, id DESC LIMIT ?`,
      ...valuesOf(before),
      most,
    ),
  remove: (ids) => sql.run(`DELETE FROM receipts WHERE id IN ${placeholders(ids.length)}`, ...ids),
});
