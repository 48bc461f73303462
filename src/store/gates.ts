import type { GateResult, GateStatus, Receipt } from "../domain/gate/gate.ts";
import type { GateRows, ReceiptRows } from "../ports/store/gates.ts";
import { placeholders, type Sql } from "./sql.ts";
import { flag, insert, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

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
});

export const receiptRows = (sql: Sql): ReceiptRows => ({
  add: async (receipt) => {
    await insert(sql, receipts, receipt);
  },
  get: (id) => selectOne(sql, receipts, "WHERE id = ?", id),
  about: (subject) => select(sql, receipts, "WHERE subject = ? ORDER BY created_at DESC, id DESC", subject),
});
