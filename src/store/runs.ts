import type { Run, RunStatus } from "../domain/run/run.ts";
import type { RunRows } from "../ports/store/tasks.ts";
import type { Sql } from "./sql.ts";
import { insert, integer, nullable, select, selectOne, table, text } from "./table.ts";

export const runs = table<Run>("runs", {
  id: text(),
  objective: nullable(text()),
  targetBranch: nullable(text()),
  landingBranch: nullable(text()),
  coordinatorName: nullable(text()),
  status: text<RunStatus>(),
  startedAt: integer,
  completedAt: nullable(integer),
});

export const runRows = (sql: Sql): RunRows => ({
  insert: async (run) => {
    await insert(sql, runs, run);
  },
  get: (id) => selectOne(sql, runs, "WHERE id = ?", id),
  current: () => selectOne(sql, runs, "WHERE status = 'active' ORDER BY started_at DESC, id DESC LIMIT 1"),
  list: (limit) => select(sql, runs, "ORDER BY started_at DESC, id DESC LIMIT ?", limit),
  setBranches: async (id, { targetBranch, landingBranch }) => {
    await sql.run(
      "UPDATE runs SET target_branch = ?, landing_branch = ? WHERE id = ?",
      targetBranch,
      landingBranch,
      id,
    );
  },
  complete: async (id, status, now) => {
    await sql.run("UPDATE runs SET status = ?, completed_at = ? WHERE id = ?", status, now, id);
  },
});
