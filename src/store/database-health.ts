import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { failureOf } from "../domain/failure.ts";
import type { DatabaseHealth } from "../ports/project-survey.ts";
import { schemaVersion } from "./migrations/migrations.ts";
import { openDatabase } from "./open-files.ts";
import { translated } from "./sqlite.ts";

const healthy = {
  exists: true,
  problem: null,
  isLogged: true,
  damage: [],
  isRuined: false,
  newest: schemaVersion,
} as const;

/** Looks at a database as the file that it is. Reads every page. */
export function databaseHealth(path: string): DatabaseHealth {
  const bytes = existsSync(path) ? statSync(path).size : 0;
  if (bytes === 0) return { ...healthy, exists: false, version: 0, bytes };
  let version = 0;
  const began = performance.now();
  try {
    const db = openDatabase(path, "read");
    try {
      version = db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
      const mode = db.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get()?.journal_mode;
      const words = db.query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${mostWords})`).all();
      const damage = words.map(({ integrity_check }) => integrity_check).filter((word) => word !== "ok");
      const isRuined = !damage.every((word) => /index|wrong # of entries/i.test(word));
      return { ...healthy, version, isLogged: mode === "wal", damage, isRuined, bytes };
    } finally {
      db.close();
    }
  } catch (error) {
    const problem = failureOf(translated(path, began, error));
    return { ...healthy, version, problem, isRuined: problem.kind === "store-corrupt", bytes };
  }
}

const mostWords = 20;

/** Copies the database aside, builds its indexes again and switches its log on. Answers the copy. */
export function rebuildDatabase(path: string, stamp: string): string {
  const copy = join(dirname(path), "backups", `doctor-${stamp}`, "overstory.db");
  mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
  const db = openDatabase(path, "write");
  try {
    db.run(`PRAGMA busy_timeout = ${patienceMs}`);
    db.query("VACUUM INTO ?").run(copy);
    chmodSync(copy, 0o600);
    db.run("PRAGMA journal_mode = WAL");
    db.run("REINDEX");
  } finally {
    db.close();
  }
  return copy;
}

const patienceMs = 10_000;
