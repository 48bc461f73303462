import { Database } from "bun:sqlite";
import { statePath } from "../testkit/state.ts";

/** Puts so many read messages and so many events into a project's database, none so old that an engine deletes them. */
export function fillWithHistory(root: string, size: number): void {
  const yesterday = Date.now() - 24 * 60 * 60_000;
  const db = new Database(statePath(root, "overstory.db"));
  db.run("PRAGMA synchronous = OFF");
  db.run("BEGIN");
  db.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${size})
     INSERT INTO messages (id, from_agent, address, subject, body, type, priority, thread_id, hop, expects_reply, verified, created_at)
     SELECT 'msg-old-' || i, 'agent-' || (i % 50), 'agent-' || ((i + 1) % 50), 'subject ' || i, 'body of message ' || i, 'status', 'normal',
            'msg-old-' || i, 0, 0, 1, ${yesterday} + i FROM n`,
  );
  db.run(
    `INSERT INTO deliveries (message_seq, to_agent, state, priority_rank, wake, attempts, not_before, redelivered, acked_at, updated_at)
     SELECT seq, address, 'acked', 2, 0, 0, 0, 0, created_at, created_at FROM messages WHERE id LIKE 'msg-old-%'`,
  );
  db.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${size})
     INSERT INTO events (agent_name, source, level, type, data, created_at)
     SELECT 'agent-' || (i % 50), 'agent', 'info', 'tool_start', '{"tool":"Bash"}', ${yesterday} + i FROM n`,
  );
  db.run("COMMIT");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
