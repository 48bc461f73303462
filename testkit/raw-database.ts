import { Database } from "bun:sqlite";
import { databaseOf } from "./lifecycle.ts";
import type { TestProject } from "./project.ts";

/** A connection that waits while the project's own processes write: SQLite itself would refuse at once. */
export function openRaw(path: string, access: "read" | "write"): Database {
  const database = new Database(path, access === "read" ? { readonly: true } : { readwrite: true });
  database.run("PRAGMA busy_timeout = 10000");
  return database;
}

/** The project's database behind its back: what no command can write, and what no port reads. */
export const rawDatabase = (project: TestProject, access: "read" | "write"): Database =>
  openRaw(databaseOf(project), access);
