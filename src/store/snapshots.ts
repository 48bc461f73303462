import type { Checkpoint, Handoff, HandoffReason, Identity, RecoveryRows } from "../ports/store/agents.ts";
import type {
  CleaningRows,
  RemovalRecord,
  RemovalRows,
  SnapshotRecord,
  SnapshotRows,
} from "../ports/store/snapshots.ts";
import { placeholders, type Sql } from "./sql.ts";
import { insert, insertNumbered, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

export const snapshots = table<SnapshotRecord>("snapshots", {
  seq: integer,
  agentName: text(),
  generation: integer,
  ref: text(),
  commitId: text(),
  reason: text(),
  skipped: json<readonly string[]>(),
  createdAt: integer,
});

export const snapshotRows = (sql: Sql): SnapshotRows => ({
  add: async (snapshot) =>
    (await insertNumbered(sql, snapshots, snapshot, "ON CONFLICT (ref) DO NOTHING")) !== undefined,
  all: () => select(sql, snapshots, "ORDER BY seq"),
  of: (agentName) => select(sql, snapshots, "WHERE agent_name = ? ORDER BY seq", agentName),
  leftBefore: (time) =>
    select(
      sql,
      snapshots,
      `WHERE ref LIKE 'refs/overstory/snap/%' AND EXISTS (SELECT 1 FROM agents a WHERE a.name = snapshots.agent_name
         AND a.cleaned_at < ? AND NOT EXISTS (SELECT 1 FROM agents n WHERE n.name = a.name AND n.generation > a.generation))
       ORDER BY seq`,
      time,
    ),
  remove: (refs) => sql.run(`DELETE FROM snapshots WHERE ref IN ${placeholders(refs.length)}`, ...refs),
});

export const removals = table<RemovalRecord>("removals", {
  agentName: text(),
  pid: integer,
  startToken: text(),
  bootId: text(),
  createdAt: integer,
});

export const removalRows = (sql: Sql): RemovalRows => ({
  begin: async (removal) => {
    await sql.run("DELETE FROM removals WHERE agent_name = ?", removal.agentName);
    await insert(sql, removals, removal);
  },
  of: (agentName) => selectOne(sql, removals, "WHERE agent_name = ?", agentName),
  end: async (agentName, { pid, startToken, bootId }) => {
    await sql.run(
      "DELETE FROM removals WHERE agent_name = ? AND pid = ? AND start_token = ? AND boot_id = ?",
      agentName,
      pid,
      startToken,
      bootId,
    );
  },
});

export const cleaningRows = (sql: Sql): CleaningRows => ({
  counts: async () => {
    const [row] = await sql.all(
      `SELECT (SELECT COUNT(*) FROM messages) AS messages,
         (SELECT COUNT(*) FROM usage) + (SELECT COUNT(*) FROM spending) AS usage,
         (SELECT COUNT(*) FROM events WHERE type <> 'cleaned') AS events`,
    );
    const count = (name: string): number => Number(row?.[name] ?? 0);
    return { messages: count("messages"), usage: count("usage"), events: count("events") };
  },
  wipeEvents: () => sql.run("DELETE FROM events WHERE type <> 'cleaned'"),
  wipeUsage: async () => {
    await sql.run("DELETE FROM spending_sums");
    return (await sql.run("DELETE FROM spending")) + (await sql.run("DELETE FROM usage"));
  },
});

export const checkpoints = table<Checkpoint>("checkpoints", {
  agentName: text(),
  generation: integer,
  taskId: nullable(text()),
  turnId: nullable(text()),
  summary: text(),
  files: json<readonly string[]>(),
  branch: nullable(text()),
  pending: text(),
  updatedAt: integer,
});

export const handoffs = table<Handoff>("handoffs", {
  seq: integer,
  agentName: text(),
  fromGeneration: integer,
  toGeneration: nullable(integer),
  reason: text<HandoffReason>(),
  checkpoint: text(),
  createdAt: integer,
});

export const identities = table<Identity>("identities", {
  agentName: text(),
  capability: text(),
  createdAt: integer,
  completed: integer,
  recentTasks: json<Identity["recentTasks"]>(),
});

export const recoveryRows = (sql: Sql): RecoveryRows => ({
  putCheckpoint: async (checkpoint) => {
    await sql.run("DELETE FROM checkpoints WHERE agent_name = ?", checkpoint.agentName);
    await insert(sql, checkpoints, checkpoint);
  },
  checkpoint: (agentName) => selectOne(sql, checkpoints, "WHERE agent_name = ?", agentName),
  addHandoff: async (handoff) => {
    await insertNumbered(sql, handoffs, handoff);
  },
  handoffs: (agentName) => select(sql, handoffs, "WHERE agent_name = ? ORDER BY seq", agentName),
  identity: (agentName) => selectOne(sql, identities, "WHERE agent_name = ?", agentName),
  putIdentity: async (identity) => {
    await sql.run("DELETE FROM identities WHERE agent_name = ?", identity.agentName);
    await insert(sql, identities, identity);
  },
});
