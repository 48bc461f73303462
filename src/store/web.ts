import type { ProcessIdentity } from "../domain/process/process.ts";
import type { WebKey, WebKeyKind, WebRole } from "../domain/web/web-key.ts";
import type { OperatorMark, WebListener, WebRows } from "../ports/store/web.ts";
import type { Sql } from "./sql.ts";
import { flag, insert, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

/** There is one listener for each project. */
const only = "web";

export const webListeners = table<WebListener & { readonly name: string }>("web_listeners", {
  name: text(),
  host: text(),
  port: integer,
  strictPort: flag,
  owner: nullable(json<ProcessIdentity>()),
  boundPort: nullable(integer),
  problem: nullable(text()),
  askedAt: integer,
});

export const webKeys = table<WebKey>("web_keys", {
  digest: text(),
  id: text(),
  kind: text<WebKeyKind>(),
  role: text<WebRole>(),
  createdAt: integer,
  expiresAt: integer,
  usedAt: nullable(integer),
});

export const operatorMarks = table<OperatorMark>("operator_marks", {
  subject: text(),
  seenAt: nullable(integer),
  snoozedUntil: nullable(integer),
  seenAs: nullable(text()),
});

export const webRows = (sql: Sql): WebRows => ({
  listener: async () => {
    const found = await selectOne(sql, webListeners, "WHERE name = ?", only);
    if (found === undefined) return undefined;
    const { name: _, ...listener } = found;
    return listener;
  },
  setListener: async (listener) => {
    await sql.run("DELETE FROM web_listeners");
    await insert(sql, webListeners, { name: only, ...listener });
  },
  dropListener: async () => {
    await sql.run("DELETE FROM web_listeners");
  },
  addKey: async (key) => {
    await insert(sql, webKeys, key);
  },
  key: (digest) => selectOne(sql, webKeys, "WHERE digest = ?", digest),
  keys: (now) => select(sql, webKeys, "WHERE expires_at > ? ORDER BY created_at, digest", now),
  noteUse: async (id, now) => {
    await sql.run("UPDATE web_keys SET used_at = ? WHERE id = ?", now, id);
  },
  dropKey: async (digest) => (await sql.run("DELETE FROM web_keys WHERE digest = ?", digest)) > 0,
  dropKeysOf: (role, id) => {
    if (id !== undefined) return sql.run("DELETE FROM web_keys WHERE id = ?", id);
    if (role !== undefined) return sql.run("DELETE FROM web_keys WHERE role = ?", role);
    return sql.run("DELETE FROM web_keys");
  },
  dropExpired: async (now) => {
    await sql.run("DELETE FROM web_keys WHERE expires_at <= ?", now);
  },
  marks: (prefix) =>
    select(sql, operatorMarks, `WHERE substr(subject, 1, ${prefix.length}) = ? ORDER BY subject`, prefix),
  setMark: async (mark) => {
    await sql.run("DELETE FROM operator_marks WHERE subject = ?", mark.subject);
    await insert(sql, operatorMarks, mark);
  },
});
