import {
  type Approval,
  type CauseDetail,
  type MergeCause,
  type MergeEntry,
  type MergeStatus,
  openMergeStatuses,
  type ResolutionTier,
  type Verdict,
} from "../domain/merge/entry.ts";
import type { QueuePause } from "../domain/merge/queue-pause.ts";
import type { MergeFilter, MergeRows } from "../ports/store/merges.ts";
import { conditionList, literals, placeholders, type Sql, type SqlValue } from "./sql.ts";
import { changeIn, insert, insertCounted, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

export const mergeQueue = table<MergeEntry>("merge_queue", {
  id: integer,
  branch: text(),
  headCommit: text(),
  targetBranch: text(),
  taskId: nullable(text()),
  agentName: nullable(text()),
  runId: nullable(text()),
  filesModified: json<readonly string[]>(),
  dependsOn: json<readonly number[]>(),
  priority: integer,
  source: text<MergeEntry["source"]>(),
  enqueuedBy: text(),
  enqueuedAt: integer,
  status: text<MergeStatus>(),
  approval: text<Approval>(),
  tier: nullable(text<ResolutionTier>()),
  strategy: nullable(text()),
  verdict: nullable(text<Verdict>()),
  attempts: integer,
  notBefore: integer,
  resultCommit: nullable(text()),
  cause: nullable(text<MergeCause>()),
  causeDetail: nullable(json<CauseDetail>()),
  updatedAt: integer,
});

export const mergePauses = table<QueuePause & { readonly name: string }>("merge_pauses", {
  name: text(),
  pausedBy: text(),
  reason: nullable(text()),
  since: integer,
});

/** There is one queue for each project. */
const only = "queue";

/** See `bringsTarget`. */
const mayGo = "(NOT EXISTS (SELECT 1 FROM merge_pauses) OR (source = 'engine' AND agent_name IS NULL))";

const open = `status IN ${literals(openMergeStatuses)}`;

/** Numbers are kept as `[1,2]`; between commas each is found whole. */
export const holdsNumber = (column: string): string =>
  `(replace(replace(${column}, '[', ','), ']', ',') LIKE '%,' || ? || ',%')`;

/** A dependency that ended without a landing holds nothing up once its task is closed; see `unsettledOf`. */
const waitsForNothing = `(depends_on = '[]' OR NOT EXISTS (SELECT 1 FROM merge_queue d WHERE d.status <> 'merged'
  AND (d.status IN ${literals(openMergeStatuses)}
    OR NOT EXISTS (SELECT 1 FROM tasks t WHERE t.id = d.task_id AND t.status = 'closed'))
  AND replace(replace(merge_queue.depends_on, '[', ','), ']', ',') LIKE '%,' || d.id || ',%'))`;

export const mergeRows = (sql: Sql): MergeRows => ({
  insert: (entry) => insertCounted(sql, mergeQueue, entry),
  get: (id) => selectOne(sql, mergeQueue, "WHERE id = ?", id),
  openOf: (branch, targetBranch) =>
    selectOne(sql, mergeQueue, `WHERE branch = ? AND target_branch = ? AND ${open}`, branch, targetBranch),
  list: async (filter) => {
    const { where, values } = conditions(filter);
    const newest = await select(
      sql,
      mergeQueue,
      `${where} ORDER BY id DESC LIMIT ?`,
      ...values,
      filter.limit ?? 1_000_000,
    );
    return newest.reverse();
  },
  change: (id, from, change) => changeIn(sql, mergeQueue, { id, statuses: from }, change),
  dueWork: async (now, approvals) => {
    const rows = await sql.all(
      `SELECT 1 AS due WHERE EXISTS (SELECT 1 FROM merge_ops WHERE status = 'intended')
         OR EXISTS (SELECT 1 FROM merge_queue WHERE ${open} AND (status IN ('merging', 'gating')
           OR (not_before <= ? AND approval IN ${placeholders(approvals.length)} AND ${mayGo} AND ${waitsForNothing})))`,
      now,
      ...approvals,
    );
    return rows.length > 0;
  },
  nextDue: async (now, approvals) => {
    const rows = await sql.all(
      `SELECT MIN(not_before) AS due FROM merge_queue
         WHERE ${open} AND not_before > ? AND approval IN ${placeholders(approvals.length)} AND ${mayGo} AND ${waitsForNothing}`,
      now,
      ...approvals,
    );
    const due = rows[0]?.due;
    return typeof due === "number" ? due : undefined;
  },
  pause: async () => {
    const found = await selectOne(sql, mergePauses, "WHERE name = ?", only);
    if (found === undefined) return undefined;
    const { name: _, ...pause } = found;
    return pause;
  },
  setPause: async (pause) => {
    await sql.run("DELETE FROM merge_pauses");
    if (pause !== undefined) await insert(sql, mergePauses, { name: only, ...pause });
  },
});

function conditions(filter: MergeFilter): { where: string; values: SqlValue[] } {
  const { add, equal, all } = conditionList();
  if (filter.ids !== undefined) add(`id IN ${placeholders(filter.ids.length)}`, ...filter.ids);
  equal("approval", filter.approval);
  equal("branch", filter.branch);
  if (filter.branches !== undefined) add(`branch IN ${placeholders(filter.branches.length)}`, ...filter.branches);
  equal("task_id", filter.taskId);
  equal("run_id", filter.runId);
  if (filter.statuses !== undefined) {
    add(`status IN ${placeholders(filter.statuses.length)}`, ...filter.statuses);
    // Almost all entries are merged: the others have an index of their own, which SQLite uses where it reads these words.
    if (!filter.statuses.includes("merged")) add("status <> 'merged'");
  }
  if (filter.newestOfBranch === true) {
    add("NOT EXISTS (SELECT 1 FROM merge_queue n WHERE n.branch = merge_queue.branch AND n.id > merge_queue.id)");
  }
  return all();
}
