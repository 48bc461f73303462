import type { Database } from "bun:sqlite";
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
  unseen: [],
  isRuined: false,
  newest: schemaVersion,
} as const;

export interface LookTerms {
  /** A database of at most so many bytes is looked at whole: that takes a second or two. */
  readonly wholeBytes: number;
  /** The time after which no other table of a larger one is looked at. Nothing can interrupt a look at one table. */
  readonly limitMs: number;
}

const usualTerms: LookTerms = { wholeBytes: 256 * 1024 * 1024, limitMs: 3_000 };

/** Looks at a database as the file that it is. Reads every page, or of a large one as many tables as there is time for. */
export function databaseHealth(path: string, terms = usualTerms): DatabaseHealth {
  const bytes = existsSync(path) ? statSync(path).size : 0;
  if (bytes === 0) return { ...healthy, exists: false, version: 0, bytes };
  let version = 0;
  const began = performance.now();
  try {
    const db = openDatabase(path, "read");
    try {
      version = db.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
      const mode = db.query<{ journal_mode: string }, []>("PRAGMA journal_mode").get()?.journal_mode;
      const { damage, unseen } = bytes <= terms.wholeBytes ? lookAt(db) : lookAtTables(db, began + terms.limitMs);
      const isRuined = !damage.every((word) => /index|wrong # of entries/i.test(word));
      return { ...healthy, version, isLogged: mode === "wal", damage, unseen, isRuined, bytes };
    } finally {
      db.close();
    }
  } catch (error) {
    const problem = failureOf(translated(path, began, error));
    return { ...healthy, version, problem, isRuined: problem.kind === "store-corrupt", bytes };
  }
}

const mostWords = 20;

type Seen = Pick<DatabaseHealth, "damage" | "unseen">;

function lookAt(db: Database, table?: string): Seen {
  const of = table === undefined ? `${mostWords}` : `"${table.replaceAll('"', '""')}"`;
  const words = db.query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${of})`).all();
  const damage = words.map(({ integrity_check }) => integrity_check).filter((word) => word !== "ok");
  return { damage: damage.slice(0, mostWords), unseen: [] };
}

/** The table of events is the largest by far, so it comes last. */
function lookAtTables(db: Database, deadline: number): Seen {
  const sql = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name = 'events', name";
  const names = db
    .query<{ name: string }, []>(sql)
    .all()
    .map(({ name }) => name);
  const damage: string[] = [];
  for (const [at, name] of names.entries()) {
    if (performance.now() > deadline) return { damage, unseen: names.slice(at) };
    damage.push(...lookAt(db, name).damage);
  }
  return { damage, unseen: [] };
}

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
