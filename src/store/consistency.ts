import { environmentOf, openCheckStatuses } from "../domain/completion/check.ts";
import type { DanglingRow, LinkTable, StoredRows } from "../domain/consistency/facts.ts";
import type { DeliveryState } from "../domain/mail/types.ts";
import { openMergeStatuses } from "../domain/merge/entry.ts";
import type { TurnStatus } from "../domain/turn/turn.ts";
import type { ConsistencyRows } from "../ports/store/consistency.ts";
import { agents } from "./agents.ts";
import { checks } from "./checks.ts";
import { mergeQueue } from "./merges.ts";
import { leases, processes } from "./processes.ts";
import { removals, snapshots } from "./snapshots.ts";
import { literals, type Sql, type SqlRow } from "./sql.ts";
import { assign, decodeRow, select } from "./table.ts";
import { runs, specs, tasks } from "./tasks.ts";
import { turns } from "./turns.ts";

export const consistencyRows = (sql: Sql): ConsistencyRows => ({
  read: () => readAll(sql),
  setAgent: async (id, change) => {
    const { set, values } = assign(agents, change);
    await sql.run(`UPDATE agents SET ${set} WHERE id = ?`, ...values, id);
  },
  revokeToken: async (digest, now) => {
    await sql.run("UPDATE tokens SET revoked_at = ? WHERE digest = ? AND revoked_at IS NULL", now, digest);
  },
  deleteLink: async ({ table, one, other }) => {
    const { first, second, isBroken } = links[table];
    await sql.run(
      `DELETE FROM ${table} WHERE CAST(${first} AS TEXT) = ? AND CAST(${second} AS TEXT) = ? AND ${isBroken}`,
      one,
      other,
    );
  },
  deleteRemoval: async (agentName) => {
    await sql.run("DELETE FROM removals WHERE agent_name = ?", agentName);
  },
});

async function readAll(sql: Sql): Promise<StoredRows> {
  const openChecks = await select(sql, checks, `WHERE status IN ${literals(openCheckStatuses)} ORDER BY seq`);
  const allAgents = await select(sql, agents, "ORDER BY name, generation");
  return {
    projectId: textOf((await sql.all("SELECT id FROM project"))[0]?.id),
    agents: allAgents,
    runs: await select(sql, runs, "ORDER BY started_at, id"),
    turns: await select(sql, turns, "WHERE status IN ('queued', 'running') ORDER BY id"),
    processes: await ofTurns(sql, "processes", "WHERE x.ended_at IS NULL ORDER BY x.id", (row) =>
      decodeRow(processes, row),
    ),
    leases: await heldLeases(sql),
    tokens: await ofTurns(sql, "tokens", "WHERE x.revoked_at IS NULL ORDER BY x.digest", (row) => ({
      digest: String(row.digest),
      agentId: String(row.agent_id),
      turnId: textOf(row.turn_id),
    })),
    deliveries: await ofTurns(
      sql,
      "deliveries",
      "WHERE x.state IN ('claimed', 'delivered') AND x.turn_id IS NOT NULL ORDER BY x.message_seq, x.to_agent",
      (row) => ({ ...letter(row), state: String(row.state) as DeliveryState, turnId: textOf(row.turn_id) }),
    ),
    unreadable: (
      await sql.all(
        `SELECT message_seq, to_agent FROM deliveries WHERE state = 'queued' AND to_agent NOT IN ('operator', 'orchestrator', 'system')
         AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.name = to_agent) ORDER BY message_seq, to_agent`,
      )
    ).map(letter),
    wokenNames: await idsOf(sql, "SELECT DISTINCT to_agent AS id FROM deliveries WHERE state = 'queued' AND wake = 1"),
    waits: (
      await sql.all(
        `SELECT w.agent_name, w.kind, w.ref, (SELECT COUNT(*) FROM messages m WHERE m.id = w.ref) AS there
         FROM waits w ORDER BY w.agent_name, w.kind, w.ref`,
      )
    ).map((row) => ({
      agentName: String(row.agent_name),
      kind: String(row.kind),
      ref: String(row.ref),
      hasMessage: Number(row.there) > 0,
    })),
    tasks: await select(sql, tasks, "WHERE status <> 'closed' OR claimed_by IS NOT NULL ORDER BY id"),
    taskIds: await idsOf(sql, "SELECT id FROM tasks"),
    merges: await select(sql, mergeQueue, `WHERE status IN ${literals(openMergeStatuses)} ORDER BY id`),
    mergeIds: (await sql.all("SELECT id FROM merge_queue")).map((row) => Number(row.id)),
    attempts: (await idsOf(sql, "SELECT id FROM merge_attempts WHERE outcome IS NULL ORDER BY id")).map((id) => ({
      id,
    })),
    operationIds: await idsOf(sql, "SELECT id FROM merge_ops"),
    checks: openChecks,
    snapshots: await select(sql, snapshots, "ORDER BY seq"),
    removals: await select(sql, removals, "ORDER BY agent_name"),
    reservations: await ofTurns(sql, "budget_reservations", "ORDER BY x.turn_id", (row) => ({
      turnId: String(row.turn_id),
    })),
    dangling: await dangling(sql),
    blobs: await idsOf(sql, "SELECT blob_path AS id FROM messages WHERE blob_path IS NOT NULL"),
    specs: await select(sql, specs, "ORDER BY task_id"),
    environments: [
      ...allAgents.flatMap(({ envFile, cleanedAt }) => (envFile === null || cleanedAt !== null ? [] : [envFile])),
      ...openChecks.flatMap((check) => environmentOf(check) ?? []),
    ],
  };
}

const textOf = (value: SqlRow[string] | undefined): string | null => (value == null ? null : String(value));

const letter = (row: SqlRow) => ({ messageSeq: Number(row.message_seq), toAgent: String(row.to_agent) });

const idsOf = async (sql: Sql, text: string): Promise<readonly string[]> =>
  (await sql.all(text)).map((row) => String(row.id));

/** Rows of a table, each with the status of the turn that it names. */
async function ofTurns<Row>(
  sql: Sql,
  table: string,
  rest: string,
  read: (row: SqlRow) => Row,
): Promise<(Row & { readonly turnStatus: TurnStatus | null })[]> {
  const rows = await sql.all(
    `SELECT x.*, t.status AS turn_status FROM ${table} x LEFT JOIN turns t ON t.id = x.turn_id ${rest}`,
  );
  return rows.map((row) => ({ ...read(row), turnStatus: statusOf(row) }));
}

const statusOf = (row: SqlRow): TurnStatus | null => textOf(row.turn_status) as TurnStatus | null;

async function heldLeases(sql: Sql): Promise<StoredRows["leases"]> {
  const rows = await sql.all(
    `SELECT l.*, t.status AS turn_status FROM leases l
     LEFT JOIN turns t ON l.name = 'turn:' || t.id WHERE l.beat >= 0 ORDER BY l.name`,
  );
  const found = rows.map((row) => ({ ...decodeRow(leases, row), turnStatus: statusOf(row) }));
  const holders = new Map(
    (await select(sql, processes, "WHERE id IN (SELECT process_id FROM leases WHERE beat >= 0)")).map((one) => [
      one.id,
      one,
    ]),
  );
  return found.map((lease) => ({ ...lease, holder: holders.get(lease.processId ?? "") ?? null }));
}

interface Link {
  /** The columns that tell one row of the table from the others. */
  readonly first: string;
  readonly second: string;
  /** Holds for a row of which one end is missing. */
  readonly isBroken: string;
}

const lacks = (table: string, column: string, key = "id"): string =>
  `NOT EXISTS (SELECT 1 FROM ${table} p WHERE p.${key} = ${column})`;

const links: Readonly<Record<LinkTable, Link>> = {
  task_deps: {
    first: "task_id",
    second: "depends_on",
    isBroken: `(${lacks("tasks", "task_deps.task_id")} OR ${lacks("tasks", "task_deps.depends_on")})`,
  },
  // Members and served tasks may be those of another tracker, which this database does not know.
  group_members: { first: "group_id", second: "task_id", isBroken: lacks("groups", "group_members.group_id") },
  task_criteria: {
    first: "task_id",
    second: "number",
    isBroken:
      "NOT EXISTS (SELECT 1 FROM criteria c WHERE c.run_id = task_criteria.run_id AND c.number = task_criteria.number)",
  },
  deliveries: {
    first: "message_seq",
    second: "to_agent",
    isBroken: lacks("messages", "deliveries.message_seq", "seq"),
  },
  tokens: { first: "agent_id", second: "digest", isBroken: lacks("agents", "tokens.agent_id") },
  transitions: { first: "agent_id", second: "seq", isBroken: lacks("agents", "transitions.agent_id") },
};

/** More than these need no list: the count says enough, and the next look finds the rest. */
const mostDangling = 100;

async function dangling(sql: Sql): Promise<readonly DanglingRow[]> {
  const found: DanglingRow[] = [];
  for (const [table, { first, second, isBroken }] of Object.entries(links)) {
    const rows = await sql.all(
      `SELECT ${first} AS one, ${second} AS other FROM ${table} WHERE ${isBroken} LIMIT ${mostDangling}`,
    );
    found.push(...rows.map((row) => ({ table: table as LinkTable, one: String(row.one), other: String(row.other) })));
  }
  return found;
}
