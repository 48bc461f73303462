import type { FleetRows } from "../ports/store/fleet.ts";
import { waits } from "./budgets.ts";
import type { Sql } from "./sql.ts";
import { select } from "./table.ts";
import { turns } from "./turns.ts";

/** Statements over the whole fleet; see the port. */
export const fleetRows = (sql: Sql): FleetRows => ({
  waits: () => select(sql, waits, "ORDER BY since, kind, ref"),
  openTurns: async () => [
    ...(await select(sql, turns, "WHERE status = 'running'")),
    ...(await select(sql, turns, "WHERE status = 'queued'")),
  ],
  turnTallies: async () => {
    const rows = await sql.all(
      `SELECT agent_id, COUNT(*) AS turns, MAX(CASE WHEN status = 'failed' THEN 1 ELSE 0 END) AS failed
       FROM turns WHERE agent_id IN (SELECT id FROM agents WHERE released_at IS NULL) GROUP BY agent_id`,
    );
    return rows.map((row) => ({
      agentId: String(row.agent_id),
      turns: Number(row.turns),
      hasFailed: Number(row.failed) === 1,
    }));
  },
  queuedMail: async () => {
    const rows = await sql.all(
      "SELECT to_agent, COUNT(*) AS messages, MAX(wake) AS wakes FROM deliveries WHERE state = 'queued' GROUP BY to_agent",
    );
    return rows.map((row) => ({
      toAgent: String(row.to_agent),
      messages: Number(row.messages),
      wakes: Number(row.wakes) === 1,
    }));
  },
  checkedAgents: async () => {
    // Other words in this statement would make SQLite walk over every check there ever was.
    const rows = await sql.all("SELECT agent_id FROM checks WHERE status IN ('queued', 'running')");
    return [...new Set(rows.flatMap(({ agent_id: id }) => (id === null ? [] : [String(id)])))];
  },
});
