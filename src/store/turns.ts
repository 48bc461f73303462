import { capabilityClasses } from "../domain/agent/capability.ts";
import { attachPrefix, holdingWaits } from "../domain/agent/wait.ts";
import { openCheckStatuses } from "../domain/completion/check.ts";
import { openMergeStatuses } from "../domain/merge/entry.ts";
import type { CostSource } from "../domain/prices/prices.ts";
import type { FailureCause } from "../domain/turn/failure.ts";
import type { Turn, TurnStatus, TurnTrigger } from "../domain/turn/turn.ts";
import type { NoPlace, TurnRows } from "../ports/store/turns.ts";
import { literals, type Sql } from "./sql.ts";
import { assign, flag, insert, integer, nullable, select, selectOne, table, text } from "./table.ts";

export const turns = table<Turn>("turns", {
  id: text(),
  agentId: text(),
  agentName: text(),
  runId: text(),
  trigger: text<TurnTrigger>(),
  status: text<TurnStatus>(),
  attempt: integer,
  notBefore: integer,
  fence: integer,
  resumeRequested: nullable(text()),
  resumeObserved: nullable(text()),
  logDir: nullable(text()),
  outputOffset: integer,
  outputLines: integer,
  clean: nullable(flag),
  resultText: nullable(text()),
  exitCode: nullable(integer),
  exitSignal: nullable(text()),
  terminalMessageSeq: nullable(integer),
  error: nullable(text()),
  queuedAt: integer,
  startedAt: nullable(integer),
  endedAt: nullable(integer),
  failure: nullable(text<FailureCause>()),
  advice: nullable(text()),
  prompt: nullable(text()),
  costMicros: nullable(integer),
  costSource: nullable(text<CostSource>()),
  priceVersion: nullable(text()),
  reason: nullable(text()),
});

const seatedAndFree = `
  EXISTS (SELECT 1 FROM agents a WHERE a.id = turns.agent_id AND a.worktree_path IS NOT NULL
          AND a.state NOT IN ('completed', 'zombie') AND a.stop_requested_by IS NULL)
  AND NOT EXISTS (SELECT 1 FROM turns r WHERE r.agent_id = turns.agent_id AND r.status = 'running')
  AND NOT EXISTS (SELECT 1 FROM waits w WHERE w.agent_name = turns.agent_name AND w.kind IN ${literals(holdingWaits)})`;

const takesNoPlace = `
  EXISTS (SELECT 1 FROM agents p WHERE p.id = turns.agent_id AND p.capability IN ${literals(capabilityClasses.persistent)})`;

function hasPlace(noPlace: NoPlace): { readonly where: string; readonly values: readonly string[] } {
  if (noPlace === "anywhere") return { where: `AND ${takesNoPlace}`, values: [] };
  const { inRuns } = noPlace;
  if (inRuns.length === 0) return { where: "", values: [] };
  const marks = inRuns.map(() => "?").join(", ");
  return { where: `AND (turns.run_id NOT IN (${marks}) OR ${takesNoPlace})`, values: inRuns };
}

export const turnRows = (sql: Sql): TurnRows => ({
  queue: async ({ now, ...turn }) => {
    const row: Turn = {
      reason: null,
      ...turn,
      status: "queued",
      fence: 0,
      resumeRequested: null,
      resumeObserved: null,
      logDir: null,
      outputOffset: 0,
      outputLines: 0,
      clean: null,
      resultText: null,
      exitCode: null,
      exitSignal: null,
      terminalMessageSeq: null,
      error: null,
      queuedAt: now,
      startedAt: null,
      endedAt: null,
      failure: null,
      advice: null,
      prompt: null,
      costMicros: null,
      costSource: null,
      priceVersion: null,
    };
    const added = await insert(sql, turns, row, "ON CONFLICT (agent_id) WHERE status = 'queued' DO NOTHING");
    if (added > 0) return;
    await sql.run(
      "UPDATE turns SET not_before = ? WHERE agent_id = ? AND status = 'queued' AND not_before > ? AND trigger <> 'retry'",
      turn.notBefore,
      turn.agentId,
      turn.notBefore,
    );
  },
  hasten: async (agentId) => {
    await sql.run("UPDATE turns SET not_before = 0 WHERE agent_id = ? AND status = 'queued'", agentId);
  },
  get: (id) => selectOne(sql, turns, "WHERE id = ?", id),
  queuedFor: (agentId) => selectOne(sql, turns, "WHERE agent_id = ? AND status = 'queued'", agentId),
  runningFor: (agentId) => selectOne(sql, turns, "WHERE agent_id = ? AND status = 'running'", agentId),
  ready: (now, limit, noPlace = { inRuns: [] }) => {
    const { where, values } = hasPlace(noPlace);
    return select(
      sql,
      turns,
      `WHERE status = 'queued' AND not_before <= ? AND ${seatedAndFree} ${where} ORDER BY not_before, queued_at, id LIMIT ?`,
      now,
      ...values,
      limit,
    );
  },
  running: () => select(sql, turns, "WHERE status = 'running' ORDER BY started_at, id"),
  countRunning: async () => sum(await runningPerRun(sql)),
  runningPerRun: () => runningPerRun(sql),
  listFor: (agentId) => select(sql, turns, "WHERE agent_id = ? ORDER BY queued_at, id", agentId),
  newestOf: async (agentIds, limit) => {
    const found: Turn[] = [];
    const where = "WHERE agent_id = ? AND started_at IS NOT NULL ORDER BY queued_at DESC, id DESC LIMIT ?";
    for (const agentId of agentIds) found.push(...(await select(sql, turns, where, agentId, limit)));
    const inOrder = found.toSorted((a, b) => (a.startedAt ?? 0) - (b.startedAt ?? 0) || (a.id < b.id ? -1 : 1));
    return inOrder.slice(Math.max(0, inOrder.length - limit));
  },
  newestLimited: (runtime) =>
    selectOne(
      sql,
      turns,
      `WHERE failure = 'rate_limit' AND ended_at IS NOT NULL AND agent_id IN (SELECT id FROM agents WHERE runtime = ?)
       ORDER BY ended_at DESC, id DESC LIMIT 1`,
      runtime,
    ),
  start: async (id, { fence, logDir, resumeRequested, now }) => {
    const { set, values } = assign(turns, { status: "running", fence, logDir, resumeRequested, startedAt: now });
    return (await sql.run(`UPDATE turns SET ${set} WHERE id = ? AND status = 'queued'`, ...values, id)) > 0;
  },
  takeOver: async (id) => {
    const rows = await sql.all(
      "UPDATE turns SET fence = fence + 1 WHERE id = ? AND status = 'running' RETURNING fence",
      id,
    );
    const fence = rows[0]?.fence;
    return typeof fence === "number" ? fence : undefined;
  },
  progress: async (id, fence, offset, lines) =>
    (await sql.run(
      "UPDATE turns SET output_offset = ?, output_lines = ? WHERE id = ? AND fence = ? AND status = 'running'",
      offset,
      lines,
      id,
      fence,
    )) > 0,
  sawProviderSession: async (id, providerSessionId) => {
    await sql.run("UPDATE turns SET resume_observed = ? WHERE id = ?", providerSessionId, id);
  },
  told: async (id, prompt) => {
    await sql.run("UPDATE turns SET prompt = ? WHERE id = ?", prompt, id);
  },
  end: async (id, fence, ending) => {
    const { set, values } = assign(turns, ending);
    return (
      (await sql.run(
        `UPDATE turns SET ${set} WHERE id = ? AND fence = ? AND status = 'running'`,
        ...values,
        id,
        fence,
      )) > 0
    );
  },
  cancelQueued: (agentId, now) =>
    sql.run(
      "UPDATE turns SET status = 'cancelled', ended_at = ? WHERE agent_id = ? AND status = 'queued'",
      now,
      agentId,
    ),
  cancel: async (id, now) => {
    await sql.run("UPDATE turns SET status = 'cancelled', ended_at = ? WHERE id = ? AND status = 'queued'", now, id);
  },
  dueWork: async (now) => {
    const rows = await sql.all(
      `SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM turns WHERE status = 'running')
         OR EXISTS (SELECT 1 FROM turns WHERE status = 'queued' AND not_before <= ? AND ${seatedAndFree})
         OR EXISTS (SELECT 1 FROM agents WHERE worktree_path IS NULL AND state = 'booting')
         OR EXISTS (SELECT 1 FROM agents WHERE stop_requested_by IS NOT NULL AND state NOT IN ('completed', 'zombie'))
         OR EXISTS (SELECT 1 FROM agents WHERE released_at IS NOT NULL AND cleaned_at IS NULL)
         OR EXISTS (SELECT 1 FROM leases WHERE name LIKE '${attachPrefix}%' AND beat >= 0)`,
      now,
    );
    return rows.length > 0;
  },
  mayHaveWork: async () => {
    const rows = await sql.all(
      `SELECT 1 AS may WHERE EXISTS (SELECT 1 FROM turns WHERE status = 'running')
         OR EXISTS (SELECT 1 FROM turns WHERE status = 'queued')
         OR EXISTS (SELECT 1 FROM agents WHERE worktree_path IS NULL AND state = 'booting')
         OR EXISTS (SELECT 1 FROM agents WHERE stop_requested_by IS NOT NULL AND state NOT IN ('completed', 'zombie'))
         OR EXISTS (SELECT 1 FROM agents WHERE released_at IS NOT NULL AND cleaned_at IS NULL)
         OR EXISTS (SELECT 1 FROM leases WHERE name LIKE '${attachPrefix}%' AND beat >= 0)
         OR EXISTS (SELECT 1 FROM waits WHERE kind = 'budget' AND deadline IS NOT NULL)
         OR EXISTS (SELECT 1 FROM merge_ops WHERE status = 'intended')
         OR EXISTS (SELECT 1 FROM merge_queue WHERE status IN ${literals(openMergeStatuses)})
         OR EXISTS (SELECT 1 FROM checks WHERE status IN ${literals(openCheckStatuses)})`,
    );
    return rows.length > 0;
  },
  nextDue: async (now) => {
    const rows = await sql.all(
      "SELECT MIN(not_before) AS due FROM turns WHERE status = 'queued' AND not_before > ?",
      now,
    );
    const due = rows[0]?.due;
    return typeof due === "number" ? due : undefined;
  },
});

async function runningPerRun(sql: Sql): Promise<ReadonlyMap<string, number>> {
  const rows = await sql.all(
    `SELECT turns.run_id AS run, COUNT(*) AS n FROM turns JOIN agents ON agents.id = turns.agent_id
     WHERE turns.status = 'running' AND agents.capability NOT IN ${literals(capabilityClasses.persistent)}
     GROUP BY turns.run_id`,
  );
  return new Map(rows.map(({ run, n }) => [String(run), Number(n)]));
}

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, one) => all + one, 0);
