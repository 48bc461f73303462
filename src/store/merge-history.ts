import type { AttemptMember, AttemptOutcome, MergeAttempt } from "../domain/merge/attempt.ts";
import type { MergeOp, MergeOpKind, MergeOpRequest, MergeOpStatus } from "../domain/merge/operation.ts";
import type {
  MergeAttemptRows,
  MergeOpFilter,
  MergeOpRows,
  RadarOutcome,
  RadarPair,
  RadarRows,
  RadarWarning,
  RememberedResolution,
  ResolutionRows,
} from "../ports/store/merges.ts";
import { holdsNumber } from "./merges.ts";
import type { Sql, SqlValue } from "./sql.ts";
import { assign, insert, insertNumbered, integer, json, nullable, select, selectOne, table, text } from "./table.ts";

export const mergeAttempts = table<MergeAttempt>("merge_attempts", {
  id: text(),
  trainId: text(),
  queueIds: json<readonly number[]>(),
  baseCommit: text(),
  candidateCommit: nullable(text()),
  outcome: nullable(text<AttemptOutcome>()),
  gateResults: json<readonly string[]>(),
  members: json<readonly AttemptMember[]>(),
  startedAt: integer,
  finishedAt: nullable(integer),
  logDir: nullable(text()),
});

export const mergeOps = table<MergeOp>("merge_ops", {
  seq: integer,
  id: text(),
  kind: text<MergeOpKind>(),
  ref: text(),
  beforeCommit: nullable(text()),
  afterCommit: nullable(text()),
  queueIds: json<readonly number[]>(),
  actor: text(),
  status: text<MergeOpStatus>(),
  undoes: nullable(text()),
  undoneBy: nullable(text()),
  request: json<MergeOpRequest>(),
  problem: nullable(text()),
  createdAt: integer,
  updatedAt: integer,
});

export const mergeAttemptRows = (sql: Sql): MergeAttemptRows => ({
  insert: async (attempt) => {
    await insert(sql, mergeAttempts, attempt);
  },
  get: (id) => selectOne(sql, mergeAttempts, "WHERE id = ?", id),
  change: async (id, change) => {
    const { set, values } = assign(mergeAttempts, change);
    await sql.run(`UPDATE merge_attempts SET ${set} WHERE id = ?`, ...values, id);
  },
  of: (queueId) =>
    select(sql, mergeAttempts, `WHERE ${holdsNumber("queue_ids")} ORDER BY started_at, id`, String(queueId)),
  unfinished: () => select(sql, mergeAttempts, "WHERE outcome IS NULL ORDER BY started_at, id"),
});

export const mergeOpRows = (sql: Sql): MergeOpRows => ({
  insert: async (op) => {
    await insertNumbered(sql, mergeOps, op);
  },
  get: (id) => selectOne(sql, mergeOps, "WHERE id = ?", id),
  list: (filter) => {
    const { where, values } = conditions(filter);
    return select(sql, mergeOps, `${where} ORDER BY seq DESC LIMIT ?`, ...values, filter.limit ?? 1_000_000);
  },
  settle: async (id, change) => {
    const { set, values } = assign(mergeOps, change);
    return (await sql.run(`UPDATE merge_ops SET ${set} WHERE id = ? AND status = 'intended'`, ...values, id)) > 0;
  },
  setUndoneBy: async (id, undoneBy) => {
    await sql.run("UPDATE merge_ops SET undone_by = ? WHERE id = ?", undoneBy, id);
  },
});

function conditions({ kind, status, ref, queueId }: MergeOpFilter): { where: string; values: SqlValue[] } {
  const given: [string, SqlValue | undefined][] = [
    ["kind = ?", kind],
    ["status = ?", status],
    ["ref = ?", ref],
    [holdsNumber("queue_ids"), queueId === undefined ? undefined : String(queueId)],
  ];
  const parts = given.flatMap(([part, value]) => (value === undefined ? [] : [{ part, value }]));
  const where = parts.length === 0 ? "" : `WHERE ${parts.map(({ part }) => part).join(" AND ")}`;
  return { where, values: parts.map(({ value }) => value) };
}

export const rememberedResolutions = table<RememberedResolution>("remembered_resolutions", {
  fingerprint: text(),
  path: text(),
  content: text(),
  strategy: text(),
  landedAt: integer,
  bad: integer,
});

export const radarPairs = table<RadarPair>("radar_pairs", {
  aCommit: text(),
  bCommit: text(),
  outcome: text<RadarOutcome>(),
  files: json<readonly string[]>(),
  createdAt: integer,
});

export const radarWarnings = table<RadarWarning>("radar_warnings", {
  branchA: text(),
  branchB: text(),
  filesDigest: text(),
  createdAt: integer,
});

const heads = "SELECT head_commit FROM agents WHERE ahead > 0 AND released_at IS NULL";

export const resolutionRows = (sql: Sql): ResolutionRows => ({
  get: (fingerprint) => selectOne(sql, rememberedResolutions, "WHERE fingerprint = ?", fingerprint),
  put: async (resolution) => {
    await sql.run("DELETE FROM remembered_resolutions WHERE fingerprint = ?", resolution.fingerprint);
    await insert(sql, rememberedResolutions, resolution);
  },
  markBad: async (fingerprint) => {
    await sql.run("UPDATE remembered_resolutions SET bad = bad + 1 WHERE fingerprint = ?", fingerprint);
  },
});

export const radarRows = (sql: Sql): RadarRows => ({
  pair: (aCommit, bCommit) => selectOne(sql, radarPairs, "WHERE a_commit = ? AND b_commit = ?", aCommit, bCommit),
  put: async (pair) => {
    await sql.run("DELETE FROM radar_pairs WHERE a_commit = ? AND b_commit = ?", pair.aCommit, pair.bCommit);
    await insert(sql, radarPairs, pair);
  },
  conflictsOfHeads: () =>
    select(
      sql,
      radarPairs,
      `WHERE outcome = 'conflict' AND a_commit IN (${heads}) AND b_commit IN (${heads}) ORDER BY created_at, a_commit, b_commit`,
    ),
  warnings: () =>
    select(
      sql,
      radarWarnings,
      `WHERE branch_a IN (SELECT branch FROM agents WHERE released_at IS NULL)
       ORDER BY created_at, branch_a, branch_b, files_digest`,
    ),
  warnOnce: async (branchA, branchB, filesDigest, now) =>
    (await sql.run(
      "INSERT INTO radar_warnings (branch_a, branch_b, files_digest, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      branchA,
      branchB,
      filesDigest,
      now,
    )) > 0,
});
