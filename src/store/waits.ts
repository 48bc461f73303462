import type { WaitKind } from "../domain/agent/wait.ts";
import type { Wait, WaitRows } from "../ports/store/agents.ts";
import type { Sql } from "./sql.ts";
import { insert, integer, nullable, select, table, text } from "./table.ts";

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
  ofKind: (kind) => select(sql, waits, "WHERE kind = ? ORDER BY since, agent_name, ref", kind),
  nextDeadline: async (kind) => {
    const rows = await sql.all("SELECT MIN(deadline) AS due FROM waits WHERE kind = ? AND deadline IS NOT NULL", kind);
    const due = rows[0]?.due;
    return typeof due === "number" ? due : undefined;
  },
});
