import type { TurnTrigger } from "../domain/turn/turn.ts";
import type { FleetRows } from "../ports/store/fleet.ts";
import { waits } from "./budgets.ts";
import { deliveries } from "./deliveries.ts";
import { messages } from "./messages.ts";
import type { Sql } from "./sql.ts";
import { select } from "./table.ts";
import { turns } from "./turns.ts";

const inOpenThread =
  "thread_id IN (SELECT thread_id FROM messages WHERE id IN (SELECT ref FROM waits WHERE kind = 'reply'))";

/** Statements over the whole fleet; see the port. */
export const fleetRows = (sql: Sql): FleetRows => ({
  waits: () => select(sql, waits, "ORDER BY since, kind, ref"),
  openTurns: async () => [
    ...(await select(sql, turns, "WHERE status = 'running'")),
    ...(await select(sql, turns, "WHERE status = 'queued'")),
  ],
  turnTallies: async () => {
    const rows = await sql.all(
      `SELECT agent_id, COUNT(*) AS turns, MAX(CASE WHEN status = 'failed' THEN 1 ELSE 0 END) AS failed,
         MAX(CASE WHEN status = 'running' THEN 1 ELSE 0 END) AS running, MAX(CASE WHEN status = 'queued' THEN "trigger" END) AS queued_by
       FROM turns WHERE agent_id IN (SELECT id FROM agents WHERE released_at IS NULL) GROUP BY agent_id`,
    );
    return rows.map((row) => ({
      agentId: String(row.agent_id),
      turns: Number(row.turns),
      hasFailed: Number(row.failed) === 1,
      isRunning: Number(row.running) === 1,
      queuedBy: row.queued_by as TurnTrigger | null,
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
  askedNames: async () => {
    const rows = await sql.all(
      `SELECT w.agent_name AS asker, d.to_agent AS asked FROM waits w JOIN messages m ON m.id = w.ref
       JOIN deliveries d ON d.message_seq = m.seq
       WHERE w.kind = 'reply' AND d.state NOT IN ('cancelled', 'dead') AND d.to_agent <> m.from_agent`,
    );
    return rows.map(({ asker, asked }) => ({ asker: String(asker), asked: String(asked) }));
  },
  openThreads: () => select(sql, messages, `WHERE ${inOpenThread} ORDER BY seq`),
  deliveriesOfOpenThreads: () =>
    select(sql, deliveries, `WHERE message_seq IN (SELECT seq FROM messages WHERE ${inOpenThread}) ORDER BY to_agent`),
});
