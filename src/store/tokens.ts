import type { RequestRows, Token, TokenRows } from "../ports/store/processes.ts";
import type { Sql } from "./sql.ts";
import { insert, integer, nullable, selectOne, table, text } from "./table.ts";

export const tokens = table<Token>("tokens", {
  digest: text(),
  agentId: text(),
  turnId: nullable(text()),
  createdAt: integer,
  revokedAt: nullable(integer),
});

export const tokenRows = (sql: Sql): TokenRows => ({
  insert: async (token) => {
    await insert(sql, tokens, token);
  },
  get: (digest) => selectOne(sql, tokens, "WHERE digest = ?", digest),
  revokeForTurn: async (turnId, now) => {
    await sql.run("UPDATE tokens SET revoked_at = ? WHERE turn_id = ? AND revoked_at IS NULL", now, turnId);
  },
  revokeWithoutTurn: async (agentId, now) => {
    await sql.run(
      "UPDATE tokens SET revoked_at = ? WHERE agent_id = ? AND turn_id IS NULL AND revoked_at IS NULL",
      now,
      agentId,
    );
  },
});

export const requestRows = (sql: Sql): RequestRows => ({
  reply: async (id) => {
    const rows = await sql.all("SELECT reply FROM requests WHERE id = ?", id);
    return rows[0] === undefined ? undefined : String(rows[0].reply);
  },
  store: async (id, name, reply, now) => {
    await sql.run("INSERT INTO requests (id, name, reply, created_at) VALUES (?, ?, ?, ?)", id, name, reply, now);
  },
});
