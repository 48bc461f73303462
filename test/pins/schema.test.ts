import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqlite } from "../../src/store/sqlite.ts";

const pin = join(import.meta.dir, "schema.sql");

// A published migration is never edited: a change here is right only together with a new migration.
test("a new database has exactly the schema that is written down (UPDATE_PINS=1 writes it anew)", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-schema-"));
  try {
    const path = join(dir, "overstory.db");
    await openSqlite({ path, life: "command" }).close();
    const dump = dumpOf(path);
    if (process.env.UPDATE_PINS === "1") writeFileSync(pin, dump);
    expect(dump).toBe(readFileSync(pin, "utf8"));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

function dumpOf(path: string): string {
  const db = new Database(path, { readonly: true });
  const version = db.query<{ user_version: number }, []>("PRAGMA user_version").get();
  const rows = db
    .query<{ sql: string }, []>(
      "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY tbl_name, type DESC, name",
    )
    .all();
  db.close();
  return [`PRAGMA user_version = ${version?.user_version}`, ...rows.map((row) => row.sql)]
    .map((statement) => `${statement.trim()};\n`)
    .join("\n");
}
