import type { Delivery, DeliveryState } from "../domain/mail/types.ts";
import type { DeliveryRows, InboxCheckRows, Mail } from "../ports/store/mail.ts";
import { messages } from "./messages.ts";
import { placeholders, type Sql, type SqlValue } from "./sql.ts";
import {
  assign,
  columnName,
  decodeRow,
  flag,
  insert,
  integer,
  nullable,
  select,
  selectOne,
  table,
  text,
} from "./table.ts";

export const deliveries = table<Delivery>("deliveries", {
  messageSeq: integer,
  toAgent: text(),
  state: text<DeliveryState>(),
  priorityRank: integer,
  wake: flag,
  wakeReason: nullable(text()),
  attempts: integer,
  notBefore: integer,
  claimedBy: nullable(text()),
  claimExpires: nullable(integer),
  turnId: nullable(text()),
  channel: nullable(text()),
  redelivered: flag,
  deliveredAt: nullable(integer),
  ackedAt: nullable(integer),
  lastError: nullable(text()),
  updatedAt: integer,
});

let columns: string | undefined;
const both = (): string => {
  columns ??= [
    ...Object.keys(messages.columns).map((field) => `m."${columnName(field)}" AS m_${columnName(field)}`),
    ...Object.keys(deliveries.columns).map((field) => `d."${columnName(field)}" AS d_${columnName(field)}`),
  ].join(", ");
  return columns;
};
const openStates: readonly DeliveryState[] = ["claimed", "delivered", "dead"];
/** Word for word the condition of the index `deliveries_open`: SQLite uses a partial index only when it sees its condition. */
const isOpen = "d.state IN ('claimed', 'delivered', 'dead')";
/** Behind that condition, so that the same index is used. */
const isHandedOut = `${isOpen} AND d.state IN ('claimed', 'delivered')`;
const byRank = "ORDER BY d.priority_rank, d.message_seq";
const wakingFirst = "ORDER BY d.wake DESC, d.priority_rank, d.message_seq";
const isDue = "WHERE d.to_agent = ? AND d.state = 'queued' AND d.not_before <= ?";

export const deliveryRows = (sql: Sql): DeliveryRows => ({
  insert: async (rows) => {
    for (const row of rows) await insert(sql, deliveries, row);
  },
  get: (messageSeq, toAgent) =>
    selectOne(sql, deliveries, "WHERE to_agent = ? AND message_seq = ?", toAgent, messageSeq),
  ofMessage: (messageSeq) => select(sql, deliveries, "WHERE message_seq = ? ORDER BY to_agent", messageSeq),
  update: async (delivery) => {
    const { messageSeq, toAgent, ...change } = delivery;
    const { set, values } = assign(deliveries, change);
    await sql.run(
      `UPDATE deliveries SET ${set} WHERE to_agent = ? AND message_seq = ?`,
      ...values,
      toAgent,
      messageSeq,
    );
  },
  queued: (toAgent, now, limit) => mail(sql, `${isDue} ${byRank} LIMIT ?`, toAgent, now, limit),
  isDue: async (toAgent, now) => {
    // In that order the index of queued mail is used: others have the mail of years in them.
    const rows = await sql.all(`SELECT 1 AS n FROM deliveries d ${isDue} ${byRank} LIMIT 1`, toAgent, now);
    return rows.length > 0;
  },
  forTurn: (toAgent, now, limit) => mail(sql, `${isDue} ${wakingFirst} LIMIT ?`, toAgent, now, limit),
  countQueued: async (toAgent) => {
    const rows = await sql.all("SELECT COUNT(*) AS n FROM deliveries WHERE to_agent = ? AND state = 'queued'", toAgent);
    return Number(rows[0]?.n ?? 0);
  },
  hasWaking: async (toAgent) => {
    const rows = await sql.all(
      "SELECT 1 AS n FROM deliveries WHERE to_agent = ? AND state = 'queued' AND wake = 1 LIMIT 1",
      toAgent,
    );
    return rows.length > 0;
  },
  nextWaking: async (toAgent) => {
    const rows = await sql.all(
      "SELECT MIN(not_before) AS due FROM deliveries WHERE to_agent = ? AND state = 'queued' AND wake = 1",
      toAgent,
    );
    const due = rows[0]?.due;
    return typeof due === "number" ? due : undefined;
  },
  inState: (toAgent, states) => {
    const narrowed = states.every((state) => openStates.includes(state)) ? `${isOpen} AND ` : "";
    return mail(
      sql,
      `WHERE d.to_agent = ? AND ${narrowed}d.state IN ${placeholders(states.length)} ${byRank}`,
      toAgent,
      ...states,
    );
  },
  handedOut: async (toAgent) => {
    const rows = await sql.all(`SELECT d.* FROM deliveries d WHERE d.to_agent = ? AND ${isHandedOut}`, toAgent);
    return rows.map((row) => decodeRow(deliveries, row));
  },
  ofTurn: (turnId) => mail(sql, `WHERE d.turn_id = ? ${byRank}`, turnId),
  nextExpiry: () => firstExpiry(sql),
  nextReturn: () =>
    firstExpiry(
      sql,
      `AND EXISTS (SELECT 1 FROM agents a WHERE a.name = deliveries.to_agent AND a.state NOT IN ('completed', 'zombie'))`,
    ),
  expired: (now, limit) =>
    select(
      sql,
      deliveries,
      "WHERE claim_expires IS NOT NULL AND state = 'claimed' AND claim_expires <= ? ORDER BY claim_expires LIMIT ?",
      now,
      limit,
    ),
  dead: (limit) =>
    mail(sql, `WHERE ${isOpen} AND d.state = 'dead' ORDER BY d.message_seq DESC, d.to_agent LIMIT ?`, limit),
});

async function mail(sql: Sql, rest: string, ...values: SqlValue[]): Promise<Mail[]> {
  const rows = await sql.all(
    `SELECT ${both()} FROM deliveries d JOIN messages m ON m.seq = d.message_seq ${rest}`,
    ...values,
  );
  return rows.map((row) => {
    const message: Record<string, SqlValue> = {};
    const delivery: Record<string, SqlValue> = {};
    for (const [name, value] of Object.entries(row))
      (name.startsWith("m_") ? message : delivery)[name.slice(2)] = value;
    return { message: decodeRow(messages, message), delivery: decodeRow(deliveries, delivery) };
  });
}

export const inboxCheckRows = (sql: Sql): InboxCheckRows => ({
  last: async (agentName) => {
    const rows = await sql.all("SELECT checked_at FROM inbox_checks WHERE agent_name = ?", agentName);
    return rows[0] === undefined ? undefined : Number(rows[0].checked_at);
  },
  record: async (agentName, now) => {
    await sql.run(
      "INSERT INTO inbox_checks (agent_name, checked_at) VALUES (?, ?) ON CONFLICT (agent_name) DO UPDATE SET checked_at = excluded.checked_at",
      agentName,
      now,
    );
  },
});

async function firstExpiry(sql: Sql, and = ""): Promise<number | undefined> {
  const rows = await sql.all(
    `SELECT MIN(claim_expires) AS due FROM deliveries WHERE claim_expires IS NOT NULL AND state = 'claimed' ${and}`,
  );
  const due = rows[0]?.due;
  return typeof due === "number" ? due : undefined;
}
