import type {
  RadarOutcome,
  RadarPair,
  RadarRows,
  RememberedResolution,
  ResolutionRows,
} from "../ports/store/merges.ts";
import type { Sql } from "./sql.ts";
import { insert, integer, json, selectOne, table, text } from "./table.ts";

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
  warnOnce: async (branchA, branchB, filesDigest, now) =>
    (await sql.run(
      "INSERT INTO radar_warnings (branch_a, branch_b, files_digest, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
      branchA,
      branchB,
      filesDigest,
      now,
    )) > 0,
});
