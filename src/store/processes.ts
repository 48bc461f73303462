import type { Lease, ProcessRecord, ProcessRole } from "../domain/process/process.ts";
import type { LeaseRows, ProcessRows, RequestRows, Token, TokenRows } from "../ports/store/processes.ts";
import { placeholders, type Sql } from "./sql.ts";
import { insert, integer, nullable, select, selectOne, table, text } from "./table.ts";

export const processes = table<ProcessRecord>("processes", {
  id: text(),
  role: text<ProcessRole>(),
  agentId: nullable(text()),
  turnId: nullable(text()),
  pid: integer,
  startToken: text(),
  bootId: text(),
  startedAt: integer,
  endedAt: nullable(integer),
  endReason: nullable(text()),
});

export const processRows = (sql: Sql): ProcessRows => ({
  insert: async (record) => {
    await insert(sql, processes, record);
  },
  get: (id) => selectOne(sql, processes, "WHERE id = ?", id),
  liveForTurn: (turnId) =>
    select(sql, processes, "WHERE turn_id = ? AND ended_at IS NULL ORDER BY started_at DESC, id DESC", turnId),
  liveForAgent: (agentId) =>
    select(sql, processes, "WHERE agent_id = ? AND ended_at IS NULL ORDER BY started_at DESC, id DESC", agentId),
  liveInRole: (role) => select(sql, processes, "WHERE role = ? AND ended_at IS NULL ORDER BY started_at, id", role),
  find: ({ pid, startToken, bootId }) =>
    selectOne(
      sql,
      processes,
      "WHERE pid = ? AND ended_at IS NULL AND start_token = ? AND boot_id = ?",
      pid,
      startToken,
      bootId,
    ),
  withPids: (pids) =>
    select(
      sql,
      processes,
      `WHERE pid IN ${placeholders(pids.length)} AND ended_at IS NULL ORDER BY started_at, id`,
      ...pids,
    ),
  end: endWhere(sql, "id"),
  endForTurn: endWhere(sql, "turn_id"),
});

const endWhere =
  (sql: Sql, column: "id" | "turn_id") =>
  async (value: string, reason: string, now: number): Promise<void> => {
    const ended = `UPDATE processes SET ended_at = ?, end_reason = ? WHERE ${column} = ? AND ended_at IS NULL`;
    await sql.run(ended, now, reason, value);
  };

export const leases = table<Lease>("leases", {
  name: text(),
  fence: integer,
  beat: integer,
  processId: nullable(text()),
});

// A lease that was given up stays as a row with the beat -1: its next holder must get an unused fence.
const held = "beat >= 0";

export const leaseRows = (sql: Sql): LeaseRows => ({
  get: (name) => selectOne(sql, leases, `WHERE name = ? AND ${held}`, name),
  // No pattern: a name may hold what a pattern would take for a wildcard.
  heldBelow: (prefix) =>
    select(sql, leases, `WHERE substr(name, 1, ${prefix.length}) = ? AND ${held} ORDER BY name`, prefix),
  take: async (name, processId) => {
    const rows = await sql.all(
      `INSERT INTO leases (name, fence, beat, process_id) VALUES (?, 1, 0, ?)
       ON CONFLICT (name) DO UPDATE SET fence = leases.fence + 1, beat = 0, process_id = excluded.process_id RETURNING fence`,
      name,
      processId,
    );
    return Number(rows[0]?.fence);
  },
  hold: async (name, fence, processId) => {
    await sql.run(
      `INSERT INTO leases (name, fence, beat, process_id) VALUES (?, ?, 0, ?)
       ON CONFLICT (name) DO UPDATE SET fence = excluded.fence, beat = 0, process_id = excluded.process_id`,
      name,
      fence,
      processId,
    );
  },
  beat: async (name, fence) =>
    (await sql.run(`UPDATE leases SET beat = beat + 1 WHERE name = ? AND fence = ? AND ${held}`, name, fence)) > 0,
  drop: async (name, fence) => {
    await sql.run("UPDATE leases SET beat = -1, process_id = NULL WHERE name = ? AND fence = ?", name, fence);
  },
  delete: async (name, fence) => {
    await sql.run("DELETE FROM leases WHERE name = ? AND fence = ?", name, fence);
  },
});

export const tokens = table<Token>("tokens", {
  digest: text(),
  agentId: text(),
  turnId: nullable(text()),
  createdAt: integer,
  revokedAt: nullable(integer),
});

export const tokenRows = (sql: Sql): TokenRows => ({
  insert: async (token) => {
    await insert(sql, tokens, token);
  },
  get: (digest) => selectOne(sql, tokens, "WHERE digest = ?", digest),
  revokeForTurn: async (turnId, now) => {
    await sql.run("UPDATE tokens SET revoked_at = ? WHERE turn_id = ? AND revoked_at IS NULL", now, turnId);
  },
  revokeWithoutTurn: async (agentId, now) => {
    await sql.run(
      "UPDATE tokens SET revoked_at = ? WHERE agent_id = ? AND turn_id IS NULL AND revoked_at IS NULL",
      now,
      agentId,
    );
  },
});

export const requestRows = (sql: Sql): RequestRows => ({
  reply: async (id) => {
    const rows = await sql.all("SELECT reply FROM requests WHERE id = ?", id);
    return rows[0] === undefined ? undefined : String(rows[0].reply);
  },
  store: async (id, name, reply, now) => {
    await sql.run("INSERT INTO requests (id, name, reply, created_at) VALUES (?, ?, ?, ?)", id, name, reply, now);
  },
});
