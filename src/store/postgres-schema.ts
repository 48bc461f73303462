import type { SQL } from "bun";
import { Failure } from "../domain/failure.ts";
import { schemaVersion, statementsFrom } from "./migrations/migrations.ts";

/** Advisory locks of this program in its database: one namespace, one number per purpose. */
export const advisoryLocks = { commitOrder: "28534, 1", migration: "28534, 2" } as const;

/** Creates or migrates the schema, once, however many open at the same moment. `place` names the database in failures. */
export async function ensureSchema(db: SQL, place: string): Promise<void> {
  if (isCurrent(await versionOf(db), place)) return;
  await db.begin(async (tx) => {
    await tx.unsafe(`SELECT pg_advisory_xact_lock(${advisoryLocks.migration})`);
    await tx.unsafe(`CREATE TABLE IF NOT EXISTS schema_version (
      only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
      version INTEGER NOT NULL
    )`);
    const version = await versionOf(tx);
    if (isCurrent(version, place)) return;
    await tx.unsafe(statementsFrom(version, "postgres").join(";\n"));
    await tx.unsafe(
      `INSERT INTO schema_version (only_row, version) VALUES (1, ${schemaVersion})
       ON CONFLICT (only_row) DO UPDATE SET version = excluded.version`,
    );
  });
}

function isCurrent(version: number, place: string): boolean {
  if (version <= schemaVersion) return version === schemaVersion;
  throw new Failure({ kind: "store-too-new", path: place, found: version, known: schemaVersion });
}

/** Looks where the tables would be created and nowhere else: another project's may be further down the search path. */
async function versionOf(db: SQL): Promise<number> {
  const [table] = await db.unsafe<{ there: boolean }[]>(
    `SELECT EXISTS (SELECT 1 FROM pg_tables
                    WHERE schemaname = current_schema() AND tablename = 'schema_version') AS there`,
  );
  if (table?.there !== true) return 0;
  const [row] = await db.unsafe<{ version: number }[]>("SELECT version FROM schema_version");
  return row?.version ?? 0;
}
