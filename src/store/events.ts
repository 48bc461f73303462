import type { Event, EventLevel, EventSource } from "../domain/event/event.ts";
import type { AuditRows, EventRows, NoticeRows } from "../ports/store/events.ts";
import type { Sql } from "./sql.ts";
import { insertNumbered, integer, nullable, select, table, text } from "./table.ts";

export const events = table<Event>("events", {
  seq: integer,
  runId: nullable(text()),
  agentName: nullable(text()),
  agentId: nullable(text()),
  turnId: nullable(text()),
  line: nullable(integer),
  part: nullable(integer),
  source: text<EventSource>(),
  level: text<EventLevel>(),
  type: text(),
  data: nullable(text()),
  createdAt: integer,
});

export const eventRows = (sql: Sql): EventRows => ({
  append: async (added) => {
    for (const event of added) {
      const row = {
        runId: event.runId ?? null,
        agentName: event.agentName ?? null,
        agentId: event.agentId ?? null,
        turnId: event.turnId ?? null,
        line: event.line ?? null,
        part: event.part ?? null,
        source: event.source,
        level: event.level ?? "info",
        type: event.type,
        data: event.data === undefined ? null : JSON.stringify(event.data),
        createdAt: event.createdAt,
      };
      await insertNumbered(sql, events, row, "ON CONFLICT DO NOTHING");
    }
  },
  after: (cursor, limit) => select(sql, events, "WHERE seq > ? ORDER BY seq LIMIT ?", cursor, limit),
  ofTurn: (turnId, type) =>
    select(sql, events, "WHERE turn_id = ? AND type = ? AND line IS NOT NULL ORDER BY line, part", turnId, type),
  last: async () => Number((await sql.all("SELECT MAX(seq) AS seq FROM events"))[0]?.seq ?? 0),
});

export const noticeRows = (sql: Sql): NoticeRows => ({
  once: async (agentId, kind, key, messageSeq) =>
    (await sql.run(
      "INSERT INTO notices (agent_id, kind, key, message_seq) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      agentId,
      kind,
      key,
      messageSeq,
    )) > 0,
});

export const auditRows = (sql: Sql): AuditRows => ({
  record: async ({ caller, action, refused, detail, now }) => {
    await sql.run(
      "INSERT INTO audit (caller, action, refused, detail, created_at) VALUES (?, ?, ?, ?, ?)",
      caller,
      action,
      refused ? 1 : 0,
      detail,
      now,
    );
  },
  list: async (limit) => {
    const rows = await sql.all(
      "SELECT seq, caller, action, refused, detail, created_at FROM audit ORDER BY seq DESC LIMIT ?",
      limit,
    );
    return rows.map((row) => ({
      seq: Number(row.seq),
      caller: String(row.caller),
      action: String(row.action),
      refused: row.refused === 1,
      detail: String(row.detail),
      createdAt: Number(row.created_at),
    }));
  },
});
