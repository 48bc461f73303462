import type { ProcessRecord, ProcessRole } from "../domain/process/process.ts";
import type { ProcessRows } from "../ports/store/processes.ts";
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
  end: async (id, reason, now) => {
    await sql.run(
      "UPDATE processes SET ended_at = ?, end_reason = ? WHERE id = ? AND ended_at IS NULL",
      now,
      reason,
      id,
    );
  },
  endForTurn: async (turnId, reason, now) => {
    await sql.run(
      "UPDATE processes SET ended_at = ?, end_reason = ? WHERE turn_id = ? AND ended_at IS NULL",
      now,
      reason,
      turnId,
    );
  },
});
