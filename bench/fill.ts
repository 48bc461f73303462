import { Database } from "bun:sqlite";
import { statePath } from "../testkit/state.ts";

/**
 * Puts so many read messages and so many events into a project's database, none so old that an engine deletes them. Few
 * agents have the events, and half of the events tell of trouble: a list has its full length also where there is little.
 */
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
     INSERT INTO events (agent_name, agent_id, turn_id, source, level, type, data, created_at)
     SELECT 'agent-' || (i % 5), 'agent-' || (i % 5) || '-1', 'turn-' || i, 'agent',
            CASE i % 4 WHEN 0 THEN 'warn' WHEN 2 THEN 'error' ELSE 'info' END,
            CASE i % 4 WHEN 0 THEN 'guard_denied' WHEN 2 THEN 'retry' ELSE 'tool_start' END,
            '{"tool":"Bash","rule":"git-push","attempt":1,"cause":"overloaded"}',
            ${Date.now() - 12 * 60 * 60_000} + i * 43200000 / ${size} FROM n`,
  );
  db.run("COMMIT");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}

/**
 * Puts one active run with so many live agents into a project's database: a coordinator, a lead for every twenty-five
 * agents, builders below the leads. Leads wait for their builders. Most builders have a turn in an hour, after two that
 * ended; every fifth waits for an answer of its lead. An engine finds nothing to do in it now.
 */
export function fillWithFleet(root: string, size: number): void {
  const db = new Database(statePath(root, "overstory.db"));
  const now = Date.now();
  const runId = "run-bench";
  db.run("PRAGMA foreign_keys = OFF");
  db.run("BEGIN");
  db.run(
    `INSERT INTO runs (id, objective, target_branch, landing_branch, coordinator_name, status, started_at)
     VALUES (?, 'measure', 'main', 'main', 'coordinator', 'active', ?)`,
    [runId, now],
  );
  const agent = db.prepare(
    `INSERT INTO agents (id, name, generation, capability, runtime, topology, parent_name, depth, run_id, task_id, scope,
       worktree_path, branch, state, state_version, reminders, started_at, last_activity_at)
     VALUES (?, ?, 1, ?, 'scripted', 'per_turn', ?, ?, '${runId}', ?, '[]', ?, ?, 'between_turns', 1, 0, ${now}, ${now})`,
  );
  const turn = db.prepare(
    `INSERT INTO turns (id, agent_id, agent_name, run_id, trigger, status, attempt, not_before, fence, output_offset,
       output_lines, queued_at, started_at, ended_at)
     VALUES (?, ?, ?, '${runId}', ?, ?, 1, ?, 1, 0, 0, ${now}, ${now}, ?)`,
  );
  const question = db.prepare(
    `INSERT INTO messages (id, from_agent, address, subject, body, type, priority, thread_id, hop, expects_reply, verified, created_at)
     VALUES (?, ?, ?, 'Which one?', 'Which one?', 'question', 'normal', ?, 0, 1, 1, ${now}) RETURNING seq`,
  );
  const delivery = db.prepare(
    `INSERT INTO deliveries (message_seq, to_agent, state, priority_rank, wake, attempts, not_before, redelivered, updated_at)
     VALUES (?, ?, 'queued', 2, 0, 0, 0, 0, ${now})`,
  );
  const wait = db.prepare(`INSERT INTO waits (agent_name, kind, ref, since) VALUES (?, ?, ?, ${now})`);
  for (let i = 0; i < size; i++) {
    const lead = `lead-${Math.floor(i / 25)}`;
    const [name, capability, parent, depth] =
      i === 0
        ? (["coordinator", "coordinator", "operator", 0] as const)
        : i % 25 === 1
          ? ([lead, "lead", "coordinator", 1] as const)
          : ([`builder-${i}`, "builder", lead, 2] as const);
    const asks = capability === "builder" && i % 5 === 0;
    const works = capability === "builder" && !asks;
    const id = `agent-${i}`;
    const place = `${root}/.overstory/worktrees/${name}`;
    agent.run(id, name, capability, parent, depth, `T${i}`, place, `overstory/${name}/T${i}`);
    for (let n = 0; n < 2; n++) turn.run(`turn-${i}-${n}`, id, name, "mail", "completed", 0, now);
    if (works) turn.run(`turn-${i}-2`, id, name, "retry", "queued", now + 3_600_000, null);
    if (depth === 2) wait.run(lead, "child", name);
    if (depth === 1) wait.run("coordinator", "child", name);
    if (!asks) continue;
    const { seq } = question.get(`msg-${i}`, name, lead, `msg-${i}`) as { seq: number };
    delivery.run(seq, lead);
    wait.run(name, "reply", `msg-${i}`);
  }
  db.run("COMMIT");
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  db.close();
}
