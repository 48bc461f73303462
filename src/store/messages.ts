import { type MailType, type Message, type Priority, settledDeliveries } from "../domain/mail/types.ts";
import type { MessageFilter, MessageRows } from "../ports/store/mail.ts";
import { literals, placeholders, type Sql, type SqlValue } from "./sql.ts";
import { flag, insertNumbered, integer, nullable, select, selectOne, table, text } from "./table.ts";

export const messages = table<Message>("messages", {
  seq: integer,
  id: text(),
  runId: nullable(text()),
  fromAgent: text(),
  fromAgentId: nullable(text()),
  turnId: nullable(text()),
  address: text(),
  subject: text(),
  body: text(),
  type: text<MailType>(),
  priority: text<Priority>(),
  threadId: text(),
  replyTo: nullable(text()),
  hop: integer,
  payload: nullable(text()),
  dedupeKey: nullable(text()),
  expectsReply: flag,
  verified: flag,
  blobPath: nullable(text()),
  createdAt: integer,
});

export const messageRows = (sql: Sql): MessageRows => ({
  insert: async (message) => {
    const seq = await insertNumbered(sql, messages, message);
    if (seq === undefined) throw new Error(`message ${message.id} was not numbered`);
    return seq;
  },
  get: (id) => selectOne(sql, messages, "WHERE id = ?", id),
  bySeq: (seq) => selectOne(sql, messages, "WHERE seq = ?", seq),
  byDedupeKey: (fromAgent, key) => selectOne(sql, messages, "WHERE from_agent = ? AND dedupe_key = ?", fromAgent, key),
  list: async (filter) => {
    const { where, values } = conditions(filter);
    const order = filter.after === undefined ? "DESC" : "ASC";
    const found = await select(
      sql,
      messages,
      `${where} ORDER BY seq ${order} LIMIT ?`,
      ...values,
      filter.limit ?? 1_000_000,
    );
    return filter.after === undefined ? found : found.toReversed();
  },
  thread: (threadId) => select(sql, messages, "WHERE thread_id = ? ORDER BY seq", threadId),
  recentIds: async (limit) => {
    const rows = await sql.all("SELECT id FROM messages ORDER BY seq DESC LIMIT ?", limit);
    return rows.map((row) => String(row.id));
  },
  countFrom: async (fromAgent, after, { broadcast }) => {
    const only = broadcast ? "AND address LIKE '@%'" : "";
    const rows = await sql.all(
      `SELECT COUNT(*) AS n FROM messages WHERE from_agent = ? AND created_at > ? ${only}`,
      fromAgent,
      after,
    );
    return Number(rows[0]?.n ?? 0);
  },
  duplicate: ({ fromAgent, address, subject, body }, after) =>
    selectOne(
      sql,
      messages,
      "WHERE from_agent = ? AND created_at > ? AND address = ? AND subject = ? AND body = ? ORDER BY seq DESC LIMIT 1",
      fromAgent,
      after,
      address,
      subject,
      body,
    ),
  questionsTo: (name) =>
    select(
      sql,
      messages,
      `JOIN (SELECT ref, since, agent_name FROM waits WHERE kind = 'reply' AND EXISTS (SELECT 1 FROM agents a
           WHERE a.name = waits.agent_name AND a.state NOT IN ('completed', 'zombie'))) w ON w.ref = messages.id
       WHERE EXISTS (SELECT 1 FROM deliveries d WHERE d.message_seq = messages.seq AND d.to_agent = ?)
         OR EXISTS (SELECT 1 FROM messages c JOIN deliveries d ON d.message_seq = c.seq AND d.to_agent = ?
           WHERE c.thread_id = messages.thread_id AND c.reply_to = messages.id AND c.from_agent = messages.from_agent)
       ORDER BY w.since, w.agent_name, w.ref`,
      name,
      name,
    ),
  ofTurn: async (turnId, types) => {
    if (types.length === 0) return [];
    return select(
      sql,
      messages,
      `WHERE turn_id = ? AND type IN ${placeholders(types.length)} ORDER BY seq`,
      turnId,
      ...types,
    );
  },
  purgeSettled: async (before, { after, most }) => {
    const rows = await sql.all("SELECT seq, created_at FROM messages WHERE seq > ? ORDER BY seq LIMIT ?", after, most);
    const old = rows.filter((row) => Number(row.created_at) < before);
    const last = old.at(-1);
    if (last === undefined) return { purged: 0, last: null };
    const purged = await sql.run(
      `DELETE FROM messages WHERE seq > ? AND seq <= ? AND created_at < ?
         AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = messages.run_id AND r.status = 'active')
         AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.message_seq = messages.seq
                         AND d.state NOT IN ${literals(settledDeliveries)})
         AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.kind = 'reply' AND w.ref = messages.id)`,
      after,
      Number(last.seq),
      before,
    );
    return { purged, last: rows.length < most ? null : Number(last.seq) };
  },
  blobsInUse: async (names) => {
    if (names.length === 0) return new Set();
    // By name alone: a project that was moved has other directories in its rows.
    const rows = await sql.all("SELECT blob_path FROM messages WHERE blob_path IS NOT NULL");
    const wanted = new Set(names);
    const used = rows.map((row) => String(row.blob_path)).map((path) => path.slice(path.lastIndexOf("/") + 1));
    return new Set(used.filter((name) => wanted.has(name)));
  },
  purge: async ({ before, agent, all }) => {
    if (all === true) return sql.run("DELETE FROM messages");
    const parts: string[] = [];
    const values: SqlValue[] = [];
    if (before !== undefined) {
      parts.push("created_at < ?");
      values.push(before);
    }
    if (agent !== undefined) {
      parts.push("(from_agent = ? OR seq IN (SELECT message_seq FROM deliveries WHERE to_agent = ?))");
      values.push(agent, agent);
    }
    if (parts.length === 0) return 0;
    return sql.run(`DELETE FROM messages WHERE ${parts.join(" AND ")}`, ...values);
  },
});

function conditions(filter: MessageFilter): { where: string; values: SqlValue[] } {
  const parts: string[] = [];
  const values: SqlValue[] = [];
  const add = (part: string, ...given: SqlValue[]): void => {
    parts.push(part);
    values.push(...given);
  };
  if (filter.from !== undefined) add("from_agent = ?", filter.from);
  if (filter.involving !== undefined) {
    const names = placeholders(filter.involving.length);
    add(
      `(from_agent IN ${names}
        OR EXISTS (SELECT 1 FROM deliveries i WHERE i.message_seq = messages.seq AND i.to_agent IN ${names}))`,
      ...filter.involving,
      ...filter.involving,
    );
  }
  if (filter.before !== undefined) add("seq < ?", filter.before);
  if (filter.after !== undefined) add("seq > ?", filter.after);
  if (filter.type !== undefined) add("type = ?", filter.type);
  if (filter.threadId !== undefined) add("thread_id = ?", filter.threadId);
  if (filter.runId !== undefined) add("run_id = ?", filter.runId);
  const unread = filter.unread === true ? "AND state IN ('queued', 'claimed')" : "";
  const { from, runId, threadId } = filter;
  if (filter.to !== undefined) {
    // If this is the only condition, SQLite would look at every message for the few of one reader.
    const isOnlyNarrowing = from === undefined && runId === undefined && threadId === undefined;
    add(
      isOnlyNarrowing
        ? `seq IN (SELECT message_seq FROM deliveries WHERE to_agent = ? ${unread})`
        : `EXISTS (SELECT 1 FROM deliveries WHERE message_seq = messages.seq AND to_agent = ? ${unread})`,
      filter.to,
    );
  } else if (filter.unread === true) {
    // Few messages are unread. Each part of the query has an index of its own.
    add(`seq IN (SELECT message_seq FROM deliveries WHERE state = 'queued'
      UNION ALL SELECT message_seq FROM deliveries WHERE state IN ('claimed', 'delivered', 'dead') AND state = 'claimed')`);
  }
  return { where: parts.length === 0 ? "" : `WHERE ${parts.join(" AND ")}`, values };
}
