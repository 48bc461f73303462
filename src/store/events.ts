import { type Event, type EventLevel, type EventSource, eventLevels } from "../domain/event/event.ts";
import type { AuditRows, EventFilter, EventRows, NoticeRows } from "../ports/store/events.ts";
import { conditionList, placeholders, type Sql, type SqlValue } from "./sql.ts";
import { insertNumbered, integer, nullable, select, selectOne, table, text } from "./table.ts";

export const events = table<Event>("events", {
  seq: integer,
  runId: nullable(text()),
  agentName: nullable(text()),
  agentId: nullable(text()),
  turnId: nullable(text()),
  line: nullable(integer),
  part: nullable(integer),
  source: text<EventSource>(),
  level: text<EventLevel>(),
  type: text(),
  data: nullable(text()),
  createdAt: integer,
});

export const eventRows = (sql: Sql): EventRows => ({
  append: async (added) => {
    for (const event of added) {
      const row = {
        runId: event.runId ?? null,
        agentName: event.agentName ?? null,
        agentId: event.agentId ?? null,
        turnId: event.turnId ?? null,
        line: event.line ?? null,
        part: event.part ?? null,
        source: event.source,
        level: event.level ?? "info",
        type: event.type,
        data: event.data === undefined ? null : JSON.stringify(event.data),
        createdAt: event.createdAt,
      };
      await insertNumbered(sql, events, row, "ON CONFLICT DO NOTHING");
    }
  },
  after: (cursor, limit) => select(sql, events, "WHERE seq > ? ORDER BY seq LIMIT ?", cursor, limit),
  ofTurn: (turnId, type) =>
    select(sql, events, "WHERE turn_id = ? AND type = ? AND line IS NOT NULL ORDER BY line, part", turnId, type),
  get: (seq) => selectOne(sql, events, "WHERE seq = ?", seq),
  newest: (filter, limit) => listEvents(sql, filter, limit, "newest"),
  first: (filter, limit) => listEvents(sql, filter, limit, "first"),
  newestOfTurn: (turnId, limit) =>
    select(sql, events, "WHERE turn_id = ? AND line IS NOT NULL ORDER BY line DESC, part DESC LIMIT ?", turnId, limit),
  newestBut: async (count) => {
    const [edge] = await sql.all("SELECT MIN(seq) AS first, MAX(seq) AS last FROM events");
    const from = Number(edge?.last ?? 0) - count;
    if (Number(edge?.first ?? 0) > from) return undefined;
    const [oldest] = await sql.all("SELECT created_at FROM events WHERE seq > ? ORDER BY seq LIMIT 1", from);
    return oldest === undefined ? undefined : Number(oldest.created_at);
  },
  last: async () => Number((await sql.all("SELECT MAX(seq) AS seq FROM events"))[0]?.seq ?? 0),
});

/** Writers take the time before they commit, so numbers and times disagree by a moment. */
const disagreementMs = 60_000;

/**
 * One statement for each agent, each level and each kind of a run's facts that is asked for, because only then an index
 * gives the rows in the order of their numbers and the statement ends after `limit` rows. Their answers are put together
 * here.
 */
async function listEvents(sql: Sql, filter: EventFilter, limit: number, from: "newest" | "first") {
  const bounds = await numbersBetween(sql, filter);
  const order = from === "newest" ? "DESC" : "ASC";
  const found: Event[] = [];
  for (const agent of filter.agents ?? [undefined]) {
    for (const level of levelsOf(filter)) {
      for (const kinds of kindsOf(filter)) {
        const { where, values } = conditions({ ...filter, ...bounds, ...kinds }, agent, level);
        found.push(...(await select(sql, events, `${where} ORDER BY seq ${order} LIMIT ?`, ...values, limit)));
      }
    }
  }
  const inOrder = found.toSorted((a, b) => a.seq - b.seq);
  return from === "newest" ? inOrder.slice(Math.max(0, inOrder.length - limit)) : inOrder.slice(0, limit);
}

/** The levels that have an index are asked for one by one; the others need no condition, or leave out few. */
function levelsOf({ level }: EventFilter): readonly string[] {
  if (level === "error") return ["error"];
  return level === "warn" ? ["warn", "error"] : [level === "info" ? "info" : ""];
}

/** The facts of a run have an index by kind. */
const kindsOf = ({ runId, factsOnly, types }: EventFilter): readonly Pick<EventFilter, "types">[] =>
  types !== undefined && runId !== undefined && factsOnly === true ? types.map((type) => ({ types: [type] })) : [{}];

function conditions(
  filter: EventFilter,
  agent: string | undefined,
  level: string,
): { readonly where: string; readonly values: readonly SqlValue[] } {
  const list = conditionList();
  list.equal("agent_name", agent);
  if (filter.runId === null) list.add("run_id IS NULL");
  else list.equal("run_id", filter.runId);
  list.equal("turn_id", filter.turnId);
  if (level === "info") list.add(`level <> ?`, eventLevels[0]);
  // The first condition is word for word that of the index: SQLite then knows that the index holds these rows.
  else if (level !== "") list.add("level IN ('warn', 'error') AND level = ?", level);
  if (filter.factsOnly === true) list.add("line IS NULL");
  if (filter.types !== undefined) list.add(`type IN ${placeholders(filter.types.length)}`, ...filter.types);
  if (filter.after !== undefined) list.add("seq > ?", filter.after);
  if (filter.before !== undefined) list.add("seq < ?", filter.before);
  if (filter.since !== undefined) list.add("created_at >= ?", filter.since);
  if (filter.until !== undefined) list.add("created_at <= ?", filter.until);
  return list.all();
}

/** The numbers outside of which no event of the asked time can be: a time has no index, and needs none. */
async function numbersBetween(sql: Sql, { after, before, since, until }: EventFilter) {
  const first = since === undefined ? undefined : await firstAt(sql, since - disagreementMs);
  const end = until === undefined ? undefined : await firstAt(sql, until + disagreementMs);
  const low = largest(after, first === undefined ? undefined : first - 1);
  const high = smallest(before, end);
  return { ...(low === undefined ? {} : { after: low }), ...(high === undefined ? {} : { before: high }) };
}

const largest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

const smallest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b);

/** The number of the first event of this moment or later, found by halving: numbers grow with the time. */
async function firstAt(sql: Sql, moment: number): Promise<number> {
  const [ends] = await sql.all("SELECT (SELECT MIN(seq) FROM events) AS low, (SELECT MAX(seq) FROM events) AS high");
  let low = Number(ends?.low ?? 0);
  let high = Number(ends?.high ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = await sql.all("SELECT seq, created_at FROM events WHERE seq >= ? ORDER BY seq LIMIT 1", middle);
    if (row === undefined || Number(row.created_at) >= moment) high = middle;
    else low = Number(row.seq) + 1;
  }
  return low;
}

export const noticeRows = (sql: Sql): NoticeRows => ({
  once: async (agentId, kind, key, messageSeq) =>
    (await sql.run(
      "INSERT INTO notices (agent_id, kind, key, message_seq) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      agentId,
      kind,
      key,
      messageSeq,
    )) > 0,
});

export const auditRows = (sql: Sql): AuditRows => ({
  record: async ({ caller, action, refused, detail, now }) => {
    await sql.run(
      "INSERT INTO audit (caller, action, refused, detail, created_at) VALUES (?, ?, ?, ?, ?)",
      caller,
      action,
      refused ? 1 : 0,
      detail,
      now,
    );
  },
  list: async (limit, { before, refused, text: contained } = {}) => {
    const { add, all } = conditionList();
    if (before !== undefined) add("seq < ?", before);
    if (refused !== undefined) add("refused = ?", refused ? 1 : 0);
    if (contained !== undefined) {
      const pattern = `%${contained.toLowerCase().replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
      add("LOWER(caller || ' ' || action || ' ' || detail) LIKE ? ESCAPE '\\'", pattern);
    }
    const { where, values } = all();
    const rows = await sql.all(
      `SELECT seq, caller, action, refused, detail, created_at FROM audit ${where} ORDER BY seq DESC LIMIT ?`,
      ...values,
      limit,
    );
    return rows.map((row) => ({
      seq: Number(row.seq),
      caller: String(row.caller),
      action: String(row.action),
      refused: row.refused === 1,
      detail: String(row.detail),
      createdAt: Number(row.created_at),
    }));
  },
});
