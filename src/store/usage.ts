import type { Usage } from "../domain/budget/usage.ts";
import type { UsageRows } from "../ports/store/turns.ts";
import type { Sql } from "./sql.ts";
import { insert, integer, nullable, select, table, text } from "./table.ts";

export const usage = table<Usage>("usage", {
  turnId: text(),
  messageId: text(),
  agentName: text(),
  runId: text(),
  taskId: nullable(text()),
  model: nullable(text()),
  input: integer,
  output: integer,
  cacheRead: integer,
  cacheWrite: integer,
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
});
