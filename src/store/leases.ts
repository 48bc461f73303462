import type { Lease } from "../domain/process/process.ts";
import type { LeaseRows } from "../ports/store/processes.ts";
import type { Sql } from "./sql.ts";
import { integer, nullable, select, selectOne, table, text } from "./table.ts";

export const leases = table<Lease>("leases", {
  name: text(),
  fence: integer,
  beat: integer,
  processId: nullable(text()),
});

// A lease that was given up stays as a row with the beat -1: its next holder must get a fence nobody had before.
const held = "beat >= 0";

export const leaseRows = (sql: Sql): LeaseRows => ({
  get: (name) => selectOne(sql, leases, `WHERE name = ? AND ${held}`, name),
  // No pattern: a name may hold what a pattern would take for a wildcard.
  heldBelow: (prefix) =>
    select(sql, leases, `WHERE substr(name, 1, ${prefix.length}) = ? AND ${held} ORDER BY name`, prefix),
  take: async (name, processId) => {
    const rows = await sql.all(
      `INSERT INTO leases (name, fence, beat, process_id) VALUES (?, 1, 0, ?)
       ON CONFLICT (name) DO UPDATE SET fence = leases.fence + 1, beat = 0, process_id = excluded.process_id RETURNING fence`,
      name,
      processId,
    );
    return Number(rows[0]?.fence);
  },
  hold: async (name, fence, processId) => {
    await sql.run(
      `INSERT INTO leases (name, fence, beat, process_id) VALUES (?, ?, 0, ?)
       ON CONFLICT (name) DO UPDATE SET fence = excluded.fence, beat = 0, process_id = excluded.process_id`,
      name,
      fence,
      processId,
    );
  },
  beat: async (name, fence) =>
    (await sql.run(`UPDATE leases SET beat = beat + 1 WHERE name = ? AND fence = ? AND ${held}`, name, fence)) > 0,
  drop: async (name, fence) => {
    await sql.run("UPDATE leases SET beat = -1, process_id = NULL WHERE name = ? AND fence = ?", name, fence);
  },
  delete: async (name, fence) => {
    await sql.run("DELETE FROM leases WHERE name = ? AND fence = ?", name, fence);
  },
});
