import type { Checkpoint, Handoff, HandoffReason, Identity, RecoveryRows } from "../ports/store/agents.ts";
import type { Sql } from "./sql.ts";
import { insert, insertNumbered, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

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
